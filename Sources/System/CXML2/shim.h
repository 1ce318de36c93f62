#pragma once
// libxml2's HTML parser: what Swift cannot call, and the options that keep a hostile page harmless.
#include <libxml/HTMLparser.h>
#include <libxml/uri.h>

/// A tree of what a page says, however broken; NULL where there is none. Nothing is loaded from anywhere, nothing is printed,
/// and the tree is at most 256 elements deep (the limit without HTML_PARSE_HUGE).
static inline xmlDoc *martlet_html_parse(const char *bytes, int count, const char *encoding) {
  return htmlReadMemory(
      bytes, count, NULL, encoding,
      HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_COMPACT);
}

/// Whether libxml2 can read the encoding of that name.
static inline int martlet_xml_knows_encoding(const char *name) {
  xmlCharEncodingHandler *handler = xmlFindCharEncodingHandler(name);
  if (!handler) return 0;
  xmlCharEncCloseFunc(handler);
  return 1;
}

/// xmlFree is a variable, in some builds a macro.
static inline void martlet_xml_free(void *memory) { xmlFree(memory); }
