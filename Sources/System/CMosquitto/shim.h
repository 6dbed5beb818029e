#include <mosquitto.h>
// Swift's module Glibc does not contain it.
#include <sys/eventfd.h>
