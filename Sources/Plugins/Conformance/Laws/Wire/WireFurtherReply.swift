import Errand
import ErrandEssentials
import ErrandTesting

/// The server's response to a further request of an exchange, with which a transport continues a body.
///
/// The "other version" has another entity tag and other bytes, but the same length.
public enum WireFurtherReply: String, Sendable, Hashable, CaseIterable {
    /// The requested part of the same version. Without a `Range`, or if `If-Range` doesn't match, the whole body.
    case part
    /// The requested part of the same version. The connection closes after half of its bytes.
    case brokenPart
    /// The whole body of the same version, because the server doesn't support ranges.
    case whole
    /// The whole body of the other version.
    case otherWhole
    /// The requested part of the other version, because the server ignores `If-Range`.
    case otherPart
    /// A part of the same version that begins one byte after the requested one.
    case laterPart
    /// The first half of the requested part, complete, as some servers limit the length of parts.
    case shorterPart
    /// The requested part without a `Content-Range`.
    case unlabeledPart
    /// 416, without a body.
    case refusal
    /// 503, with a short text.
    case unavailable
}

extension WireExchange {
    /// The versions of the resource that a further request can meet.
    struct Version {
        let tag: String?
        let data: Data
    }

    var version: Version { Version(tag: reply.headers[.entityTag], data: reply.body.data) }

    var otherVersion: Version {
        Version(
            tag: reply.headers[.entityTag] == nil ? nil : "\"law-other\"", data: Data(reply.body.data.map { $0 ^ 0x15 })
        )
    }

    /// Whether the reply has an entity tag that identifies its bytes (RFC 9110, section 8.8.1).
    var hasStrongTag: Bool { reply.headers[.entityTag].map { $0.hasPrefix("\"") } ?? false }

    /// The server's response to the request with this number, from 1 for the first further request.
    func furtherReply(_ number: Int, to request: RecordedRequest) -> TestResponse {
        let kind = furtherReplies[min(number, furtherReplies.count) - 1]
        if kind == .unavailable { return .text("later").status(503) }
        let version = [.otherWhole, .otherPart].contains(kind) ? otherVersion : version
        var whole = TestResponse(status: 200, headers: fields(of: version), body: version.data)
        whole = kind == .brokenPart ? whole.truncated(to: version.data.count / 2) : whole
        guard let text = request.headers[.range], ![.whole, .otherWhole].contains(kind) else { return whole }
        let isConditional = request.headers[.ifRange].map { $0 != version.tag } ?? false
        if isConditional, kind != .otherPart { return whole }
        guard text.hasPrefix("bytes="), let start = Int(text.dropFirst(6).prefix { $0 != "-" }) else { return whole }
        let first = kind == .laterPart ? start + 1 : start
        let count = version.data.count
        if first >= count || kind == .refusal {
            return TestResponse(status: 416, headers: [.contentRange: "bytes */\(count)"])
        }
        let rest = Data(version.data.dropFirst(first))
        let part = kind == .shorterPart ? Data(rest.prefix((rest.count + 1) / 2)) : rest
        var headers = fields(of: version)
        if kind != .unlabeledPart { headers[.contentRange] = "bytes \(first)-\(first + part.count - 1)/\(count)" }
        let response = TestResponse(status: 206, headers: headers, body: part)
        return kind == .brokenPart ? response.truncated(to: part.count / 2) : response
    }

    private func fields(of version: Version) -> HTTPHeaders {
        var headers: HTTPHeaders = [.acceptRanges: "bytes"]
        if let tag = version.tag { headers[.entityTag] = tag }
        if reply.body == .gzip { headers[.contentEncoding] = "gzip" }
        return headers
    }
}
