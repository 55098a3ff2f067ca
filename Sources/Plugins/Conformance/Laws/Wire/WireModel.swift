import Errand
import ErrandEssentials

/// The model of HTTP/1.1 that transports are compared with: a reply's bytes and their meaning.
struct WireImage: Sendable {
    /// The part's end in the reply's bytes, and the number of body bytes that have arrived by then.
    struct Part: Sendable {
        let end: Int
        let delivered: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var fields: [HTTPHeaders.Field] = []
    private(set) var headEnd = 0
    private(set) var parts: [Part] = []
    /// The number of bytes after which the body is known to be complete. `nil` if only the connection's end marks it.
    private(set) var completion: Int?
    let hasBody: Bool
    private let reply: WireReply

    init(_ exchange: WireExchange) {
        reply = exchange.reply
        hasBody = exchange.method != .head && ![204, 304].contains(reply.status)
        for status in reply.informational {
            append("HTTP/1.1 \(status) Info\r\n")
            for field in Self.hints(of: status) { append(field) }
            append("\r\n")
        }
        let isOdd = reply.fault == .malformed(.statusLine)
        append("\(isOdd ? "HTP" : "HTTP")/1.1 \(reply.status) Law\r\n")
        fields = Array(reply.headers) + framing
        for field in fields { append(field) }
        append("\r\n")
        headEnd = bytes.count
        if hasBody { appendBody() } else { completion = headEnd }
        if reply.fault == .malformed(.excess) { append("xyz") }
    }

    static func hints(of status: Int) -> HTTPHeaders {
        status == 103 ? ["Link": "</a>; rel=preload", "X-Law-Hint": "1"] : [:]
    }

    private var framing: [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        if reply.body == .gzip, hasBody { fields.append(.init(.contentEncoding, "gzip")) }
        let count = reply.body.data.count
        switch reply.framing {
        case .length where reply.status == 204: break
        case .length where reply.fault == .malformed(.lengthText): fields.append(.init(.contentLength, "two"))
        case .length: fields.append(.init(.contentLength, "\(count)"))
        case .chunked where hasBody:
            fields.append(.init(.transferEncoding, "chunked"))
        case .untilClose where hasBody: fields.append(.init(.connection, "close"))
        default: break
        }
        if reply.fault == .malformed(.lengths) { fields.append(.init(.contentLength, "\(count + 1)")) }
        return fields
    }

    private mutating func appendBody() {
        let data = [UInt8](reply.body.data)
        switch reply.framing {
        case .length, .untilClose:
            let half = data.count / 2
            bytes += data
            parts = [half, data.count].map { Part(end: headEnd + $0, delivered: $0) }
            completion = reply.framing == .length ? bytes.count : nil
        case .chunked(let sizes):
            var position = 0
            for size in sizes + [data.count] where size > 0 && position < data.count {
                let end = min(position + size, data.count)
                let isFirst = position == 0
                append(isFirst && reply.fault == .malformed(.chunkSize) ? "x\r\n" : hex(end - position) + "\r\n")
                bytes += data[position..<end]
                append(isFirst && reply.fault == .malformed(.chunkEnd) ? "xx" : "\r\n")
                parts.append(Part(end: bytes.count, delivered: end))
                position = end
            }
            append("0\r\n")
            completion = bytes.count
            for field in reply.trailers { append(field) }
            append("\r\n")
        }
    }

    private func hex(_ number: Int) -> String { String(number, radix: 16) }

    private mutating func append(_ text: String) { bytes += Array(text.utf8) }

    private mutating func append(_ field: HTTPHeaders.Field) {
        append("\(field.name.rawName): ")
        bytes +=
            field.isLatin1
            ? field.value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(field.value.utf8)
        append("\r\n")
    }
}

/// The correct result of an exchange.
enum WireOutcome: Sendable, Equatable {
    /// With this many bytes of the body.
    case response(Int)
    case failure(afterHead: Bool)
    /// A response with the whole body and an error are both correct.
    case either

    var isFailure: Bool { if case .failure = self { true } else { false } }
}

extension WireImage {
    /// RFC 9112, sections 6.3 and 8.
    var outcome: WireOutcome {
        let count = hasBody ? reply.body.data.count : 0
        switch reply.fault {
        case nil: return .response(count)
        case .resetUpload: return .failure(afterHead: false)
        case .malformed(.excess): return .either
        case .malformed(let kind) where [.statusLine].contains(kind): return .failure(afterHead: false)
        case .malformed(let kind):
            return isMalformed(kind) ? .failure(afterHead: true) : .response(count)
        case .close(let position):
            if position < headEnd { return .failure(afterHead: false) }
            if position >= bytes.count { return .response(count) }
            guard let completion else { return .response(position - headEnd) }
            return position < completion ? .failure(afterHead: true) : .either
        case .reset(let position), .stall(let position):
            if position < headEnd { return .failure(afterHead: false) }
            guard let completion, position >= completion else { return .failure(afterHead: true) }
            // A client may discard bytes that arrived before a reset.
            return position >= bytes.count && isStall ? .response(count) : .either
        }
    }

    private var isStall: Bool { if case .stall = reply.fault { true } else { false } }

    /// Whether the reply can contain the mistake. For example, a wrong chunk size needs a chunked body.
    private func isMalformed(_ kind: WireFault.Malformation) -> Bool {
        switch kind {
        case .statusLine, .excess: true
        case .lengths, .lengthText: hasBody && reply.framing == .length
        case .chunkSize, .chunkEnd:
            if case .chunked = reply.framing { hasBody && !reply.body.data.isEmpty } else { false }
        }
    }

    /// Whether the connection may end before the client has the head. A reset can discard received bytes.
    var mayHideHead: Bool {
        switch reply.fault {
        case .close(let position): position < headEnd
        case .reset, .resetUpload: true
        default: false
        }
    }

    /// A complete response may be decoded or not.
    func bodies(_ count: Int) -> [(data: Data, isDecoded: Bool)] {
        let data = reply.body.data.prefix(count)
        guard hasBody, reply.body == .gzip, count == reply.body.data.count else { return [(Data(data), false)] }
        return [(Data(data), false), (Data(CodingCases.text.utf8), true)]
    }
}
