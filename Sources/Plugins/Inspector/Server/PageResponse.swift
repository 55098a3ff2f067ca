import ErrandEssentials

struct PageResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case events
    }

    var status: Int
    var fields: [(name: String, value: String)] = []
    var body: Body

    static func plain(_ status: Int, _ text: String = "") -> PageResponse {
        PageResponse(
            status: status, fields: [("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
    }

    static func json(_ bytes: [UInt8]) -> PageResponse {
        PageResponse(status: 200, fields: [("Content-Type", "application/json")], body: .bytes(bytes))
    }

    /// The header fields of all responses. They prevent browsers from storing a response, guessing its type, or showing
    /// it in other pages.
    private static let common: [(name: String, value: String)] = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ]
    private static let sandbox = "default-src 'none'; frame-ancestors 'none'; sandbox"

    func encoded(keepsAlive: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "-")\r\n"
        for (name, value) in fields + Self.common { head += "\(name): \(value)\r\n" }
        if !fields.contains(where: { $0.name == "Content-Security-Policy" }) {
            head += "Content-Security-Policy: \(Self.sandbox)\r\n"
        }
        switch body {
        case .bytes(let bytes):
            head += "Content-Length: \(bytes.count)\r\nConnection: \(keepsAlive ? "keep-alive" : "close")\r\n\r\n"
            return Array(head.utf8) + bytes
        case .events: return Array((head + "Connection: close\r\n\r\n").utf8)
        }
    }

    private static let reasons = [
        200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 413: "Content Too Large", 421: "Misdirected Request",
        431: "Request Header Fields Too Large", 501: "Not Implemented", 503: "Service Unavailable",
        505: "HTTP Version Not Supported",
    ]
}
