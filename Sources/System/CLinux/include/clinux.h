#pragma once
// What the Glibc module does not show to Swift.
#define _GNU_SOURCE 1
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/resource.h>
