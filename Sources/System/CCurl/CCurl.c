#include "CCurl.h"
#include <string.h>

CURLcode bookplate_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode bookplate_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode bookplate_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode bookplate_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode bookplate_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode bookplate_curl_set_sink(CURL *easy, CURLoption option, bookplate_curl_sink value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode bookplate_curl_set_open_socket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

CURLcode bookplate_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

long long bookplate_curl_certificate_expiry(CURL *easy) {
    static const char prefix[] = "Expire date:";
    struct curl_certinfo *chain = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &chain) != CURLE_OK || chain == NULL || chain->num_of_certs == 0) {
        return -1;
    }
    for (struct curl_slist *line = chain->certinfo[0]; line != NULL; line = line->next) {
        if (strncmp(line->data, prefix, sizeof prefix - 1) == 0) {
            return curl_getdate(line->data + sizeof prefix - 1, NULL);
        }
    }
    return -1;
}

int bookplate_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *easy = message->easy_handle;
            *result = message->data.result;
            return 1;
        }
    }
    return 0;
}
