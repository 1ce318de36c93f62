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
static inline CURLcode martlet_curl_set_header_writer(
    CURL *easy, size_t (*writer)(char *, size_t, size_t, void *)) {
  return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, writer);
}
static inline CURLcode martlet_curl_set_reader(CURL *easy, size_t (*reader)(char *, size_t, size_t, void *)) {
  return curl_easy_setopt(easy, CURLOPT_READFUNCTION, reader);
}
// Called before each connection of a transfer, with the address as it was resolved.
static inline CURLcode martlet_curl_set_socket_opener(
    CURL *easy, curl_socket_t (*opener)(void *, curlsocktype, struct curl_sockaddr *)) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opener);
}
static inline void *martlet_curl_private(CURL *easy) {
  char *value = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
  return value;
}
// Belongs to the handle; NULL where there is none.
static inline const char *martlet_curl_effective_url(CURL *easy) {
  char *url = NULL;
  curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url);
  return url;
}
static inline CURLMcode martlet_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
// Called where a body read by the reader has to be sent once more from an earlier place; 0 says that it can.
static inline CURLcode martlet_curl_set_seeker(CURL *easy, int (*seeker)(void *, curl_off_t, int)) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seeker);
}
// Bytes expected and received, expected and sent; 0 where unknown. Anything but 0 ends the transfer.
static inline CURLcode martlet_curl_set_progress(
    CURL *easy, int (*progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress) : code;
}
static inline CURLcode martlet_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
  return curl_easy_setopt(easy, option, list);
}
// The socket of a connection made by CURLOPT_CONNECT_ONLY; -1 where there is none.
static inline int martlet_curl_active_socket(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? (int)socket : -1;
}
