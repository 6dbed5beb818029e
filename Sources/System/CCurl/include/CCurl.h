#pragma once
#include <curl/curl.h>

// Typed wrappers of libcurl's setopt and getinfo, which are variadic and cannot be called from Swift. Each of them
// returns libcurl's error code.

CURLcode bookplate_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode bookplate_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode bookplate_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode bookplate_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode bookplate_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

// The type of the callbacks for CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
typedef size_t (*bookplate_curl_sink)(char *bytes, size_t size, size_t count, void *context);
CURLcode bookplate_curl_set_sink(CURL *easy, CURLoption option, bookplate_curl_sink value);

CURLcode bookplate_curl_set_open_socket(CURL *easy, curl_opensocket_callback value);

CURLcode bookplate_curl_get_long(CURL *easy, CURLINFO info, long *value);

// Returns when the certificate of the server expires, as a Unix time; -1 if that is not known. CURLOPT_CERTINFO must be set.
long long bookplate_curl_certificate_expiry(CURL *easy);

// Retrieves a finished transfer from curl_multi_info_read, whose union Swift does not import well.
// Returns 0 if there is none.
int bookplate_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *result);
