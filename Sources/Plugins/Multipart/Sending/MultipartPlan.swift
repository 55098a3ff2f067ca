import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// A multipart body that has passed all checks that are possible before sending.
struct MultipartPlan: Sendable {
    enum Segment: Sendable {
        case data(Data)
        case file(PlannedFile)
        case stream(length: Int64?, name: String, open: @Sendable () throws -> HTTPBody)
    }

    /// The largest body to join in memory, in bytes. A joined body needs only one write, and filters can read it.
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
        throw MultipartError.sending(.invalidRequest, own: .boundaryInPart, "a part contains the given boundary")
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

    /// If a length is unknown or overflows, the body is sent without a length.
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
                .invalidRequest, own: .invalidPart, "\(name.debugDescription) isn't a valid multipart subtype")
        }
        return "multipart/\(name)\(parameters)"
    }
}

/// Reads a multipart body for one attempt, part by part.
final class MultipartSource: HTTPBodySource {
    private enum Opened: Sendable {
        case file(PartFile)
        case stream(BodyChunks)
    }

    private struct State {
        var index = 0
        var opened: Opened?
        var received: Int64 = 0
        /// The last bytes sent of the part, which may contain the start of a boundary.
        var tail = Data()
        var isCancelled = false
    }

    /// The minimum size of a piece to send, in bytes. Shorter pieces are joined with the next piece, to avoid small
    /// writes.
    private static let gatheredBytes = 64 << 10

    private let plan: MultipartPlan
    private let state = Mutex(State())

    init(_ plan: MultipartPlan) { self.plan = plan }

    func nextChunk() async throws -> Data? {
        var gathered = Data()
        while let (piece, isLive) = try await nextPiece() {
            if gathered.isEmpty, piece.count >= Self.gatheredBytes { return piece }
            gathered.append(piece)
            // Bytes from a stream are sent immediately instead of being gathered.
            if gathered.count >= Self.gatheredBytes || isLive { break }
        }
        return gathered.isEmpty ? nil : gathered
    }

    func cancel() {
        let opened = state.withLock { state in
            state.isCancelled = true
            return state.opened
        }
        if case .stream(let chunks) = opened { chunks.cancel() }
    }

    private func nextPiece() async throws -> (Data, isLive: Bool)? {
        while true {
            let index = state.withLock { $0.index }
            guard index < plan.segments.count else { return nil }
            switch plan.segments[index] {
            case .data(let data):
                pass()
                if !data.isEmpty { return (data, false) }
            case .file(let file):
                guard case .file(let reader) = try opened({ .file(PartFile(file)) }) else { return nil }
                if let piece = try await reader.next() {
                    try checkBoundary(piece)
                    return (piece, false)
                }
                pass()
            case .stream(let length, let name, let open):
                guard case .stream(let chunks) = try opened({ .stream(BodyChunks(try open())) }) else { return nil }
                let piece = try await chunks.next()
                try count(piece, of: length, name)
                if let piece {
                    if piece.isEmpty { continue }
                    try checkBoundary(piece)
                    return (piece, true)
                }
                pass()
            }
        }
    }

    /// Opens the part on first use. Opening runs user code, and the request may be cancelled in the meantime.
    private func opened(_ open: () throws -> Opened) throws -> Opened {
        if let opened = state.withLock({ $0.opened }) { return opened }
        let new = try open()
        let isCancelled = state.withLock { state in
            state.opened = new
            return state.isCancelled
        }
        if isCancelled, case .stream(let chunks) = new { chunks.cancel() }
        return new
    }

    private func pass() {
        // Released after unlocking, because releasing the source may run user code.
        let old = state.withLock { state in
            defer { (state.index, state.opened, state.received, state.tail) = (state.index + 1, nil, 0, Data()) }
            return state.opened
        }
        withExtendedLifetime(old) {}
    }

    private func count(_ piece: Data?, of length: Int64?, _ name: String) throws {
        let received = state.withLock { state in
            state.received += Int64(piece?.count ?? 0)
            return state.received
        }
        guard let length, piece == nil ? received < length : received > length else { return }
        let came = piece == nil ? "\(received)" : "more"
        throw MultipartError.sending(
            .invalidRequest, own: .partLengthMismatch,
            "the part \(name.debugDescription): the stream announced \(length) bytes, but delivered \(came)")
    }

    /// A random boundary occurs only with a probability of 2^-128.
    private func checkBoundary(_ piece: Data) throws {
        guard plan.boundary.isGiven else { return }
        let kept = plan.boundary.delimiter.count - 1
        let joined = state.withLock { state in
            let joined = state.tail + piece
            state.tail = Data(joined.suffix(kept))
            return joined
        }
        try MultipartPlan.refuse(plan.boundary, in: joined)
    }
}
