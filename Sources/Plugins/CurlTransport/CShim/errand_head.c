#include "errand_head.h"

#if defined(__linux__)

#include <stdlib.h>
#include <string.h>

struct errand_head *errand_head_make(void) {
    struct errand_head *head = malloc(sizeof *head);
    if (!head) return NULL;
    memset(head, 0, offsetof(struct errand_head, first));
    head->bytes = head->first;
    head->capacity = sizeof head->first;
    return head;
}

void errand_head_free(struct errand_head *head) {
    if (head && head->bytes != head->first) free(head->bytes);
    free(head);
}

int errand_head_append(struct errand_head *head, const char *bytes, size_t count) {
    if (count > head->capacity - head->count) {
        size_t capacity = head->capacity * 2 > head->count + count ? head->capacity * 2 : head->count + count;
        int is_first = head->bytes == head->first;
        char *grown = realloc(is_first ? NULL : head->bytes, capacity);
        if (!grown) return 0;
        if (is_first) memcpy(grown, head->first, head->count);
        head->bytes = grown;
        head->capacity = capacity;
    }
    memcpy(head->bytes + head->count, bytes, count);
    head->count += count;
    return 1;
}

size_t errand_head_receive(char *bytes, size_t size, size_t count, void *user) {
    struct errand_head *head = user;
    count *= size;
    int is_last = count == 0 || bytes[0] == '\r' || bytes[0] == '\n';
    if (head->is_open && !is_last && head->seen == *head->now && count <= head->limit - head->received) {
        if (errand_head_append(head, bytes, count)) {
            head->received += count;
            return count;
        }
    }
    head->seen = *head->now;
    return head->line(bytes, 1, count, head->user);
}

size_t errand_head_receive_body(char *bytes, size_t size, size_t count, void *user) {
    struct errand_head *head = user;
    if (!head->is_watched || head->is_complete) return head->body(bytes, size, count, head->user);
    if (!head->is_open || head->has_field || count == 0 || bytes[0] == '\r' || bytes[0] == '\n') return size * count;
    head->is_refused = bytes[0] == ' ' || bytes[0] == '\t';
    head->has_field = !head->is_refused;
    return head->is_refused ? 0 : size * count;
}

// Returns the common names with this number of bytes.
static const char *const *names(size_t count) {
    static const char *const none[] = {NULL};
    static const char *const of3[] = {"Age", "Via", NULL};
    static const char *const of4[] = {"Date", "ETag", "Vary", "Link", NULL};
    static const char *const of5[] = {"Allow", NULL};
    static const char *const of6[] = {"Server", "Pragma", NULL};
    static const char *const of7[] = {"Expires", "Alt-Svc", "X-Cache", NULL};
    static const char *const of8[] = {"Location", NULL};
    static const char *const of10[] = {"Connection", "Set-Cookie", "Keep-Alive", NULL};
    static const char *const of11[] = {"Retry-After", NULL};
    static const char *const of12[] = {"Content-Type", "X-Request-Id", "X-Powered-By", NULL};
    static const char *const of13[] = {"Cache-Control", "Last-Modified", "Accept-Ranges", NULL};
    static const char *const of14[] = {"Content-Length", NULL};
    static const char *const of15[] = {"X-Frame-Options", "Referrer-Policy", NULL};
    static const char *const of16[] = {"Content-Encoding", "Content-Language", "WWW-Authenticate", NULL};
    static const char *const of17[] = {"Transfer-Encoding", NULL};
    static const char *const of19[] = {"Content-Disposition", NULL};
    static const char *const of22[] = {"X-Content-Type-Options", NULL};
    static const char *const of23[] = {"Content-Security-Policy", NULL};
    static const char *const of25[] = {"Strict-Transport-Security", NULL};
    static const char *const of27[] = {"Access-Control-Allow-Origin", NULL};
    static const char *const *const all[] = {
        none, none, none, of3, of4, of5, of6, of7, of8, none, of10, of11, of12, of13, of14, of15,
        of16, of17, none, of19, none, none, of22, of23, none, of25, none, of27,
    };
    return count < sizeof all / sizeof all[0] ? all[count] : none;
}

static char lower(char byte) { return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte; }

static int is_lower_case_of(const char *name, const char *bytes, size_t count) {
    size_t index = 0;
    while (index < count && bytes[index] == lower(name[index])) index++;
    return index == count;
}

// Returns a number that encodes the byte count, the index among names with that count, and whether the name is in
// lowercase, as in HTTP/2.
static int known(const char *bytes, size_t count) {
    const char *const *candidates = names(count);
    for (int which = 0; candidates[which]; which++) {
        if ((bytes[0] | 0x20) != (candidates[which][0] | 0x20)) continue;
        if (memcmp(bytes, candidates[which], count) == 0) return (int)count << 3 | which << 1;
        if (is_lower_case_of(candidates[which], bytes, count)) return (int)count << 3 | which << 1 | 1;
    }
    return 0;
}

const char *errand_head_name(int known, int *is_lower) {
    *is_lower = known & 1;
    if (known < 0 || known >= ERRAND_HEAD_NAMES) return NULL;
    const char *const *candidates = names((size_t)known >> 3);
    for (int which = 0; candidates[which]; which++) {
        if (which == (known >> 1 & 3)) return candidates[which];
    }
    return NULL;
}

// Whether a byte can surround a field's value: a blank, or a line break if the value is folded.
static int is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

// Whether the bytes are a valid field name, which consists of `tchar` (RFC 9110, section 5.6.2).
static int is_token(const char *bytes, size_t count) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t index = 0; index < count; index++) {
        char byte = bytes[index];
        int is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        if (is_letter || byte == '-' || (byte >= '0' && byte <= '9')) continue;
        if (!byte || !strchr(others, byte)) return 0;
    }
    return count > 0;
}

static int is_plain(const char *bytes, size_t count) {
    unsigned char high = 0, other = 0;
    for (size_t index = 0; index < count; index++) {
        unsigned char byte = (unsigned char)bytes[index];
        high |= byte;
        other |= (byte == 0) | (byte == '\r');
    }
    return high < 0x80 && !other;
}

static void trim(const char *bytes, size_t *start, size_t *end) {
    while (*start < *end && is_blank(bytes[*start])) ++*start;
    while (*end > *start && is_blank(bytes[*end - 1])) --*end;
}

static int is_same(const char *name, const char *bytes, size_t count) {
    size_t index = 0;
    while (index < count && lower(bytes[index]) == name[index]) index++;
    return index == count && !name[count];
}

// Whether a Transfer-Encoding list contains a coding other than "chunked" and "identity".
static int has_coding(const char *list, size_t count) {
    size_t end = 0;
    for (size_t start = 0; start < count; start = end + 1) {
        const char *comma = memchr(list + start, ',', count - start);
        end = comma ? (size_t)(comma - list) : count;
        size_t first = start, last = end;
        trim(list, &first, &last);
        if (first == last) continue;
        if (!is_same("chunked", list + first, last - first) && !is_same("identity", list + first, last - first)) return 1;
    }
    return 0;
}

// Returns the length if all members of a Content-Length list are the same number. Unless `known` is negative, the
// number must also equal `known`. Otherwise returns -1.
static int64_t length_in(const char *list, size_t count, int64_t known) {
    size_t end = 0;
    for (size_t start = 0; start <= count; start = end + 1) {
        const char *comma = start < count ? memchr(list + start, ',', count - start) : NULL;
        end = comma ? (size_t)(comma - list) : count;
        size_t first = start, last = end;
        trim(list, &first, &last);
        if (first == last) return -1;
        int64_t value = 0;
        for (; first < last; first++) {
            int digit = list[first] - '0';
            if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10) return -1;
            value = value * 10 + digit;
        }
        if (known >= 0 && known != value) return -1;
        known = value;
    }
    return known;
}

// Returns the offset of a field's value if the field has this name, which is given in lowercase. Otherwise returns 0.
static size_t value_of(const char *name, size_t length, const char *bytes, size_t start, size_t end) {
    if (end - start <= length || lower(bytes[start]) != name[0] || !is_same(name, bytes + start, length)) return 0;
    const char *colon = memchr(bytes + start + length, ':', end - start - length);
    size_t place = start + length;
    while (place < end && is_blank(bytes[place])) place++;
    return colon && place == (size_t)(colon - bytes) ? place + 1 : 0;
}

int errand_head_framing(const char *bytes, size_t count) {
    static const char coding[] = "transfer-encoding", length[] = "content-length";
    int found = 0, has_coding_field = 0, has_length = 0;
    int64_t known = -1;
    for (size_t start = 0; start < count;) {
        const char *newline = memchr(bytes + start, '\n', count - start);
        size_t end = newline ? (size_t)(newline - bytes) : count;
        // A line that begins with a blank belongs to the previous field (RFC 9112, section 5.2).
        size_t last = end;
        while (last + 1 < count && (bytes[last + 1] == ' ' || bytes[last + 1] == '\t')) {
            const char *next = memchr(bytes + last + 1, '\n', count - last - 1);
            last = next ? (size_t)(next - bytes) : count;
        }
        size_t value = value_of(coding, sizeof coding - 1, bytes, start, end);
        if (value) {
            has_coding_field = 1;
            if (has_coding(bytes + value, last - value)) found |= ERRAND_HEAD_CODING;
        } else if ((value = value_of(length, sizeof length - 1, bytes, start, end))) {
            known = has_length && known < 0 ? -1 : length_in(bytes + value, last - value, known);
            has_length = 1;
        }
        start = last + 1;
    }
    if (has_length && known < 0 && !has_coding_field) found |= ERRAND_HEAD_LENGTH;
    return found;
}

int errand_head_next(const char *bytes, size_t count, size_t *offset, struct errand_field *field) {
    int is_skipping = 0; // The lines that continue a skipped line are skipped, too.
    while (*offset < count) {
        size_t start = *offset;
        const char *newline = memchr(bytes + start, '\n', count - start);
        size_t end = newline ? (size_t)(newline - bytes) : count;
        *offset = end + 1;
        size_t name = start, value = start;
        if (start < end && (bytes[start] == ' ' || bytes[start] == '\t')) {
            trim(bytes, &value, &end);
            if (value == end || is_skipping) continue;
            field->name = field->name_count = 0;
            field->known = 0;
            field->is_continuation = 1;
        } else {
            const char *colon = memchr(bytes + start, ':', end - start);
            is_skipping = 1;
            if (!colon) continue;
            size_t name_end = (size_t)(colon - bytes);
            value = name_end + 1;
            trim(bytes, &name, &name_end);
            trim(bytes, &value, &end);
            field->known = known(bytes + name, name_end - name);
            if (!field->known && !is_token(bytes + name, name_end - name)) continue;
            field->name = name;
            field->name_count = name_end - name;
            field->is_continuation = 0;
        }
        field->value = value;
        field->value_count = end - value;
        field->is_plain = is_plain(bytes + value, end - value);
        return 1;
    }
    return 0;
}

#endif
