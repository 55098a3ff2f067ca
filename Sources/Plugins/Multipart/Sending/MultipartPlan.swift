import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A multipart body that is ready to be sent: everything that can be checked before is checked.
struct MultipartPlan: Sendable {
    /// One segment of the body, in order.
    enum Segment: Sendable {
        /// Delimiters, headers and bytes in memory.
        case data(Data)
        case file(PlannedFile)
        case stream(length: Int64?, name: String, open: @Sendable () throws -> HTTPBody)
    }

    /// The maximum size of a body that is joined in memory: one piece, one write, and a body that filters can read.
    private static let joinedBytes = 256 << 10

    private(set) var segments: [Segment] = []
    private(set) var length: Int64? = 0
    let boundary: Boundary
    private let contentType: String
    private let isReplayable: Bool

    init(_ multipart: Multipart, _ encoder: any BodyEncoder) throws {
        let encoded = try multipart.parts.map { try Self.inMemory($0, encoder) }
        boundary = try Boundary(multipart.boundary, avoiding: encoded.compactMap { $0 })
        isReplayable = multipart.parts.allSatisfy(\.isReplayable)
        contentType = try Self.contentType(of: multipart, boundary)
        var lead = "--"
        for (part, data) in zip(multipart.parts, encoded) {
            var type = part.contentType
            if case .encoded(_, let own) = part.content { type = type ?? (own ?? encoder).contentType }
            append(.data(Data((lead + boundary.text + "\r\n").utf8)))
            append(.data(try PartHead(part, in: multipart.subtype).bytes(contentType: type)))
            if let data {
                if boundary.isGiven { try Self.refuse(boundary, in: data) }
                append(.data(data))
            } else {
                append(try Self.segment(of: part))
            }
            lead = "\r\n--"
        }
        append(.data(Data("\r\n--\(boundary.text)--\r\n".utf8)))
    }

    /// The body to send: in memory where it is short, else read while it is sent.
    var body: RequestBody {
        if let joined { return .data(joined, contentType: contentType) }
        if isReplayable {
            return .stream(length: length, contentType: contentType) {
                HTTPBody(length: length, source: MultipartSource(self))
            }
        }
        return .stream(HTTPBody(length: length, source: MultipartSource(self)), contentType: contentType)
    }

    static func refuse(_ boundary: Boundary, in data: Data) throws {
        guard data.span.firstIndex(of: boundary.delimiter) != nil else { return }
        throw MultipartError.sending(.invalidRequest, .boundaryInPart, "a part contains the boundary that was given")
    }

    private var joined: Data? {
        guard let length, length <= Self.joinedBytes else { return nil }
        var all = Data(capacity: Int(length))
        for segment in segments {
            guard case .data(let data) = segment else { return nil }
            all.append(data)
        }
        return all
    }

    private mutating func append(_ segment: Segment) {
        switch segment {
        case .data(let data):
            lengthen(by: Int64(data.count))
            // Delimiters and headers go out in one piece.
            if case .data(var last)? = segments.last, last.count + data.count <= 16 << 10 {
                last.append(data)
                segments[segments.count - 1] = .data(last)
                return
            }
        case .file(let file): lengthen(by: file.length)
        case .stream(let announced, _, _): lengthen(by: announced)
        }
        segments.append(segment)
    }

    /// A body whose length is not known, or cannot be counted, is sent without one.
    private mutating func lengthen(by count: Int64?) {
        guard let known = length, let count, count >= 0 else { return length = nil }
        let (sum, isBeyond) = known.addingReportingOverflow(count)
        length = isBeyond ? nil : sum
    }

    private static func inMemory(_ part: Multipart.Part, _ encoder: any BodyEncoder) throws -> Data? {
        switch part.content {
        case .data(let data): data
        case .encoded(let encode, let own): try encode(own ?? encoder)
        case .file, .stream: nil
        }
    }

    private static func segment(of part: Multipart.Part) throws -> Segment {
        switch part.content {
        case .file(let url): .file(try PlannedFile(url))
        case .stream(let length, _, let open): .stream(length: length, name: part.name ?? "", open: open)
        case .data(let data): .data(data)
        case .encoded: .data(Data())
        }
    }

    private static func contentType(of multipart: Multipart, _ boundary: Boundary) throws -> String {
        var parameters = multipart.parameters
        parameters.all.removeAll { $0.name == "boundary" }
        parameters.all.append(.init("boundary", boundary.text))
        let name = multipart.subtype.description
        guard MediaType.essence(of: "multipart/" + name) == "multipart/" + name else {
            throw MultipartError.sending(
                .invalidRequest, .invalidPart, "\(name.debugDescription) is not the name of a multipart type")
        }
        return "multipart/\(name)\(parameters)"
    }
}
