import ErrandEssentials
import ErrandMessageSyntax

/// Parses requests (RFC 9112). Accepts only requests as browsers send them, and refuses ambiguous requests.
struct PageRequest: Sendable, Equatable {
    var method: String
    var path: String
    /// The query, percent-encoded.
    var query: String
    var host: String
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    var keepsAlive = true

    static func == (a: PageRequest, b: PageRequest) -> Bool {
        a.method == b.method && a.path == b.path && a.query == b.query && a.host == b.host && a.body == b.body
            && a.fields.elementsEqual(b.fields) { $0 == $1 }
    }

    struct Fault: Error, Equatable {
        let status: Int
        init(_ status: Int) { self.status = status }
    }

    static let maximumHeadBytes = 16 << 10
    static let maximumBodyBytes = 128 << 10
    static let maximumFields = 64

    func field(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    func contains(_ name: String) -> Bool { fields.contains { $0.name == name } }

    func item(_ name: String) -> String? {
        for item in query.split(separator: "&") where item.hasPrefix("\(name)=") {
            return String(item.dropFirst(name.utf8.count + 1))
        }
        return nil
    }

    static func parse(_ input: [UInt8]) throws(Fault) -> (request: PageRequest, length: Int)? {
        guard let end = headEnd(of: input) else {
            if input.count > maximumHeadBytes { throw Fault(431) }
            return nil
        }
        if end > maximumHeadBytes { throw Fault(431) }
        var (request, length) = try head(input[..<end])
        if length > maximumBodyBytes { throw Fault(413) }
        guard input.count - end >= length else { return nil }
        request.body = Array(input[end..<(end + length)])
        length += end
        return (request, length)
    }

    private static func headEnd(of input: [UInt8]) -> Int? {
        let last = min(input.count, maximumHeadBytes + 4)
        guard last >= 4 else { return nil }
        for index in 3..<last
        where input[index] == 10 && input[index - 1] == 13 && input[index - 2] == 10 && input[index - 3] == 13 {
            return index + 1
        }
        return nil
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws(Fault) -> (PageRequest, bodyLength: Int) {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        while start < bytes.endIndex - 2 {
            guard let end = bytes[start...].firstIndex(of: 13), end + 1 < bytes.endIndex, bytes[end + 1] == 10 else {
                throw Fault(400)
            }
            lines.append(bytes[start..<end])
            start = end + 2
        }
        guard let first = lines.first, lines.count <= maximumFields + 1 else { throw Fault(lines.isEmpty ? 400 : 431) }
        var request = try line(first)
        for bytes in lines.dropFirst() { request.fields.append(try field(bytes)) }
        guard let host = request.field("host") else { throw Fault(400) }
        request.host = host
        // Browsers send bodies with a length, so the server doesn't support other framing.
        if request.contains("transfer-encoding") { throw Fault(501) }
        if request.field("connection")?.lowercased() == "close" { request.keepsAlive = false }
        guard request.contains("content-length") else { return (request, 0) }
        guard let text = request.field("content-length"), !text.isEmpty, text.utf8.count <= 9,
            text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text)
        else { throw Fault(400) }
        return (request, length)
    }

    private static func line(_ bytes: ArraySlice<UInt8>) throws(Fault) -> PageRequest {
        let parts = bytes.split(separator: 32, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= 16, !parts[0].isEmpty, parts[0].allSatisfy(isUppercase),
            parts[1].first == UInt8(ascii: "/"), parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Fault(400) }
        guard parts[2].elementsEqual("HTTP/1.1".utf8) else { throw Fault(505) }
        let target = String(decoding: parts[1], as: UTF8.self)
        let mark = target.firstIndex(of: "?")
        return PageRequest(
            method: String(decoding: parts[0], as: UTF8.self), path: String(target[..<(mark ?? target.endIndex)]),
            query: mark.map { String(target[target.index(after: $0)...]) } ?? "", host: "")
    }

    private static func field(_ bytes: ArraySlice<UInt8>) throws(Fault) -> (name: String, value: String) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
            bytes[..<colon].allSatisfy(ASCII.isToken), bytes.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F })
        else { throw Fault(400) }
        let value = Substring(decoding: bytes[(colon + 1)...], as: UTF8.self)
        return (String(decoding: bytes[..<colon], as: UTF8.self).lowercased(), String(ASCII.trimmed(value)))
    }

    private static func isUppercase(_ byte: UInt8) -> Bool { (65...90).contains(byte) }
}
