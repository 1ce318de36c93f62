#pragma once
#include <curl/curl.h>

// curl's setters and getters are variadic, which Swift cannot call: one function for each type of argument.
static inline CURLcode martlet_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode martlet_curl_set_writer(CURL *easy, size_t (*writer)(char *, size_t, size_t, void *)) {
  return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, writer);
}
static inline long martlet_curl_status(CURL *easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}
// The finished transfer's handle and result; NULL where none is left.
static inline CURL *martlet_curl_next_finished(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}
