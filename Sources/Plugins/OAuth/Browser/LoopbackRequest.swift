import ErrandEssentials
import ErrandMessageSyntax

enum LoopbackRequest {
    static let maximumBytes = 32 << 10

    enum Verdict: Equatable {
        case incomplete
        case redirect(String)
        case refused(String)
    }

    /// - Parameter authority: The listener's address and port. A request with another `Host` is refused, because a page
    ///   from another site may have sent it through a host name that resolves to this machine.
    static func judge(_ bytes: [UInt8], path: String, authority: String) -> Verdict {
        guard let end = end(of: bytes) else {
            return bytes.count >= maximumBytes ? .refused("431 Request Header Fields Too Large") : .incomplete
        }
        guard end <= maximumBytes else { return .refused("431 Request Header Fields Too Large") }
        guard let text = String(validating: bytes[..<end], as: UTF8.self) else { return .refused("400 Bad Request") }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
        let parts = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), isTarget(parts[1]) else {
            return .refused("400 Bad Request")
        }
        guard hosts(in: lines.dropFirst()) == [authority] else { return .refused("421 Misdirected Request") }
        guard parts[0] == "GET" else { return .refused("405 Method Not Allowed") }
        guard parts[1].prefix(while: { $0 != "?" }) == path else { return .refused("404 Not Found") }
        return .redirect(String(parts[1]))
    }

    static func isPath(_ path: String) -> Bool {
        path.hasPrefix("/") && !path.contains("?") && isTarget(Substring(path))
    }

    private static func isTarget(_ text: Substring) -> Bool {
        text.hasPrefix("/") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
    }

    private static func end(of bytes: [UInt8]) -> Int? {
        bytes.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A])?.upperBound
    }

    private static func hosts(in lines: ArraySlice<Substring>) -> [String] {
        lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":"), ASCII.equalsIgnoringCase(String(line[..<colon]), "host") else {
                return nil
            }
            return String(ASCII.trimmed(line[line.index(after: colon)...])).lowercased()
        }
    }
}
