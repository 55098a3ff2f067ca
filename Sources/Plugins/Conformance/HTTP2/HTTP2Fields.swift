import ErrandEssentials

package struct HTTP2Field: Sendable, Equatable {
    let name: String
    let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// Decodes the header fields of HTTP/2 requests (RFC 7541), and encodes fields without compression.
package struct HTTP2Fields {
    struct Malformed: Error {}

    private static let overhead = 32
    private static let largestTable = 4096

    /// The newest entry is first.
    private var dynamic: [HTTP2Field] = []
    private var limit = Self.largestTable

    mutating func decode(_ block: [UInt8]) throws -> [HTTP2Field] {
        var reader = Reader(bytes: block[...])
        var fields: [HTTP2Field] = []
        while let first = reader.bytes.first {
            if first & 0x80 != 0 {
                fields.append(try entry(try reader.integer(7)))
            } else if first & 0x40 != 0 {
                let field = try literal(&reader, 6)
                dynamic.insert(field, at: 0)
                evict()
                fields.append(field)
            } else if first & 0x20 != 0 {
                limit = try reader.integer(5)
                if limit > Self.largestTable { throw Malformed() }
                evict()
            } else {
                fields.append(try literal(&reader, 4))
            }
        }
        return fields
    }

    /// Encodes each field as a literal that isn't indexed (RFC 7541, section 6.2.2).
    package static func encode(_ fields: [HTTP2Field]) -> [UInt8] {
        fields.flatMap { [0] + string($0.name) + string($0.value) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var (length, rest) = ([UInt8(127)], bytes.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    private func entry(_ index: Int) throws -> HTTP2Field {
        if (1...Self.table.count).contains(index) { return Self.table[index - 1] }
        let position = index - Self.table.count - 1
        guard dynamic.indices.contains(position) else { throw Malformed() }
        return dynamic[position]
    }

    private func literal(_ reader: inout Reader, _ bits: Int) throws -> HTTP2Field {
        let index = try reader.integer(bits)
        let name = index == 0 ? try reader.string() : try entry(index).name
        return HTTP2Field(name, try reader.string())
    }

    private mutating func evict() {
        var size = dynamic.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + Self.overhead }
        while size > limit, let last = dynamic.popLast() {
            size -= last.name.utf8.count + last.value.utf8.count + Self.overhead
        }
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func integer(_ bits: Int) throws -> Int {
            guard let first = bytes.popFirst() else { throw Malformed() }
            let largest = 1 << bits - 1
            var value = Int(first) & largest
            if value < largest { return value }
            for shift in stride(from: 0, through: 21, by: 7) {
                guard let byte = bytes.popFirst() else { throw Malformed() }
                value += Int(byte & 127) << shift
                if byte & 128 == 0 { return value }
            }
            throw Malformed()
        }

        mutating func string() throws -> String {
            let isCoded = (bytes.first ?? 0) & 128 != 0
            let count = try integer(7)
            guard count <= bytes.count else { throw Malformed() }
            let text = bytes.prefix(count)
            bytes = bytes.dropFirst(count)
            return String(decoding: isCoded ? try HTTP2Fields.decoded(text) : Array(text), as: UTF8.self)
        }
    }

    // MARK: Tables

    /// RFC 7541, appendix A.
    private static let table: [HTTP2Field] = """
        :authority;:method|GET;:method|POST;:path|/;:path|/index.html;:scheme|http;:scheme|https;:status|200;\
        :status|204;:status|206;:status|304;:status|400;:status|404;:status|500;accept-charset;\
        accept-encoding|gzip, deflate;accept-language;accept-ranges;accept;access-control-allow-origin;age;allow;\
        authorization;cache-control;content-disposition;content-encoding;content-language;content-length;\
        content-location;content-range;content-type;cookie;date;etag;expect;expires;from;host;if-match;\
        if-modified-since;if-none-match;if-range;if-unmodified-since;last-modified;link;location;max-forwards;\
        proxy-authenticate;proxy-authorization;range;referer;refresh;retry-after;server;set-cookie;\
        strict-transport-security;transfer-encoding;user-agent;vary;via;www-authenticate
        """.split(separator: ";").map { entry in
            let parts = entry.split(separator: "|")
            return HTTP2Field(String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }

    /// The lengths of the codes in appendix B, from 5 (a) to 30 (z), for each byte and the end. The codes are
    /// ordered by length, then by byte.
    private static let lengths = """
        isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibcccccccccccccccccccc\
        ccdcdioijbkabababbbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrt\
        qrssqqrqsrssprrrsrrsvvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz
        """.utf8.map { Int($0) - 92 }

    private struct Code: Hashable {
        let length: Int
        let bits: UInt32
    }

    private static let codes: [Code: UInt8] = {
        var (codes, bits, length): ([Code: UInt8], UInt32, Int) = ([:], 0, 0)
        for byte in lengths.indices.sorted(by: { (lengths[$0], $0) < (lengths[$1], $1) }) where byte < 256 {
            bits <<= UInt32(lengths[byte] - length)
            length = lengths[byte]
            codes[Code(length: length, bits: bits)] = UInt8(byte)
            bits += 1
        }
        return codes
    }()

    private static func decoded(_ bytes: ArraySlice<UInt8>) throws -> [UInt8] {
        var (text, code, length): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in bytes {
            for shift in (0..<8).reversed() {
                code = code << 1 | UInt32(byte >> shift & 1)
                length += 1
                if let found = codes[Code(length: length, bits: code)] {
                    text.append(found)
                    (code, length) = (0, 0)
                }
                if length > 30 { throw Malformed() }
            }
        }
        // The rest of the last byte is filled with ones.
        if length > 7 || code != 1 << UInt32(length) - 1 { throw Malformed() }
        return text
    }
}
