#pragma once
// libxml2's table of character references and its arithmetic of URLs.
#include <libxml/HTMLparser.h>
#include <libxml/uri.h>

/// xmlFree is a variable, in some builds a macro.
static inline void martlet_xml_free(void *memory) { xmlFree(memory); }
