import Errand
import ErrandHTTPFields
import ErrandMessageSyntax

struct Inquiry: Sendable {
    var range: Range?
    var known: Representation?
    /// Whether bytes from several sources may be joined. They may be if a checksum verifies the result.
    var joinsSources = false

    struct Range: Sendable, Equatable {
        var first: Int64
        /// The last byte of the range. It's nil if the range ends with the file.
        var last: Int64?
        var field: String { "bytes=\(first)-\(last.map { "\($0)" } ?? "")" }
    }
}

enum Verdict: Equatable {
    /// The response contains a part of the file. If there are bytes on disk, the part belongs to the same version.
    case part(end: Int64, Representation)
    /// The response contains the whole file. `isSame` is true if it's the version of the bytes on disk.
    case whole(Representation, isSame: Bool)
    case complete
    case elsewhere
    /// The download has to start over. `ranges` is true if it may request ranges again.
    case startOver(String, ranges: Bool)
    /// The response doesn't contain the file. Depending on the status, the request is retried, or the core checks the
    /// response.
    case refused
    case unusable(String)

    init(_ response: HTTPResponse, to inquiry: Inquiry) {
        switch response.status {
        case 200 where inquiry.range != nil && Self.isPart(response):
            self = .startOver("expected status 206 for a part of the file, got 200", ranges: false)
        case 200, 203: self = Self.whole(response, inquiry)
        case 206: self = Self.part(response, inquiry)
        case 416: self = inquiry.range.map { Self.unsatisfied(response, inquiry: inquiry, asked: $0) } ?? .refused
        case 412 where inquiry.range != nil && inquiry.known != nil:
            self = .startOver("the file has changed on the server (412 Precondition Failed)", ranges: false)
        case 201...299:
            self = .unusable("expected a response with the file, got \(ReasonPhrase.describing(response.status))")
        default: self = .refused
        }
    }

    private static func whole(_ response: HTTPResponse, _ inquiry: Inquiry) -> Verdict {
        let total = ContentLength.parse(lengths(of: response))
        let isSame =
            inquiry.known.map { known in
                known.objection(to: response, total: total, joiningSources: inquiry.joinsSources) == nil
                    && (known.total == nil || known.total == total)
            } ?? false
        return .whole(Representation(response, total: total), isSame: isSame)
    }

    private static func isPart(_ response: HTTPResponse) -> Bool {
        guard case .part(let first, let last, let total)? = ContentRange(in: response.headers),
            let length = ContentLength.parse(lengths(of: response))
        else { return false }
        return length == last - first + 1 && (total.map { $0 != length } ?? (first > 0))
    }

    /// Returns the values of `Content-Length`. `Transfer-Encoding` overrides this field (RFC 9112, section 6.3).
    private static func lengths(of response: HTTPResponse) -> [String] {
        response.headers.contains(.transferEncoding) ? [] : response.headers.values(of: .contentLength)
    }

    private static func part(_ response: HTTPResponse, _ inquiry: Inquiry) -> Verdict {
        guard let asked = inquiry.range else {
            return .unusable("the server sent a part (206) although the whole file was requested")
        }
        if response.mediaType == "multipart/byteranges" {
            return .startOver("the server split one range into several parts", ranges: false)
        }
        guard case .part(let first, let last, let total)? = ContentRange(in: response.headers) else {
            return .startOver("the part has no valid Content-Range", ranges: false)
        }
        guard first == asked.first, asked.last.map({ last <= $0 }) ?? true else {
            return .startOver("expected \(asked.field), got bytes \(first) to \(last)", ranges: false)
        }
        let lengths = lengths(of: response)
        if !lengths.isEmpty, ContentLength.parse(lengths) != last - first + 1 {
            return .startOver("Content-Length and Content-Range disagree", ranges: false)
        }
        if lengths.isEmpty, Representation.hasNoFraming(response) {
            return .startOver("the part has no length", ranges: false)
        }
        if let known = inquiry.known {
            switch known.objection(to: response, total: total, joiningSources: inquiry.joinsSources) {
            case .source?: return .elsewhere
            case let objection?: return .startOver(objection.text, ranges: true)
            case nil: break
            }
            if let all = known.total, last >= all {
                return .startOver("the part ends after byte \(last), past the end of the file", ranges: false)
            }
            var known = known
            known.total = known.total ?? total
            return .part(end: last + 1, known)
        }
        let representation = Representation(response, total: total)
        if representation.validator == nil || total == nil {
            return .startOver("the part has no validator that identifies its version", ranges: false)
        }
        return .part(end: last + 1, representation)
    }

    private static func unsatisfied(_ response: HTTPResponse, inquiry: Inquiry, asked: Inquiry.Range) -> Verdict {
        if case .unsatisfied(let total)? = ContentRange(in: response.headers), total == asked.first,
            let known = inquiry.known,
            known.total == nil || known.total == total, known.validator?.matches(response.headers) == true
        {
            return .complete
        }
        return .startOver("the server has no such range (416)", ranges: false)
    }
}

extension ContentRange {
    /// Reads a `Content-Range` field. Numbers are limited to 2^60, so adding lengths can't overflow.
    init?(in headers: HTTPHeaders) {
        let fields = headers.values(of: .contentRange)
        guard fields.count == 1, let range = ContentRange(parsing: fields[0]) else { return nil }
        let largest =
            switch range {
            case .part(_, let last, let total): max(last, total ?? 0)
            case .unsatisfied(let total): total
            }
        guard largest <= 1 << 60 else { return nil }
        self = range
    }
}
