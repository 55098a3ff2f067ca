import Errand
import ErrandEssentials
import ErrandSupport

extension Connection {
    /// Reads the body as the route specifies. True if bytes of it may still arrive.
    func readBody(_ request: inout RecordedRequest, _ head: RequestHead, _ reading: BodyReading) throws -> Bool {
        let framing = try head.framing()
        if framing == .length(0) {
            guard case .watched(let watch) = reading else { return false }
            do { try perform(watch(request, Data())) } catch is EnoughRead { return true }
            return false
        }
        let limit = Int64(core.configuration.maximumBodyBytes)
        if case .untouched = reading { return true }
        if case .held(let gate) = reading { try wait(at: gate) }
        var keeps = true
        if case .discarded = reading { keeps = false }
        var watch: Watch?
        if case .watched(let body) = reading { (keeps, watch) = (false, body) }
        if keeps, case .length(let length) = framing, length > limit { throw Self.tooLarge }
        try meetExpectation(head)
        do { try readBody(&request, framing, keeps: keeps, limit: limit, watch) } catch is EnoughRead { return true }
        return false
    }

    private typealias Watch = @Sendable (RecordedRequest, Data) -> [BodyAction]

    /// The rest of the body is not read.
    private struct EnoughRead: Error {}

    private func readBody(
        _ request: inout RecordedRequest, _ framing: RequestHead.Framing, keeps: Bool, limit: Int64, _ watch: Watch?
    ) throws {
        try perform(watch?(request, Data()))
        switch framing {
        case .length(let length): try readBytes(length, keeps: keeps, into: &request, watch)
        case .chunked:
            while true {
                let size = try readChunkSize()
                if size == 0 { break }
                if keeps, size > limit - request.bodyLength { throw Self.tooLarge }
                try readBytes(size, keeps: keeps, into: &request, watch)
                guard try readLine(limit: 2).isEmpty else { throw RequestFault(400, "a chunk is longer than its size") }
            }
            try readTrailers(&request)
        }
    }

    private func perform(_ actions: [BodyAction]?) throws {
        for action in actions ?? [] {
            switch action {
            case .inform(let status, let headers):
                var bytes: [UInt8] = []
                ResponseEncoder(response: .status(200).informational(status, headers), isHead: false, closes: false)
                    .informational(into: &bytes, 0)
                budget = .max
                try send(bytes.span)
            case .respond: throw EnoughRead()
            case .close: throw Ending.close
            case .reset: throw Ending.reset
            case .stall: try stall()
            }
        }
    }

    private static var tooLarge: RequestFault { RequestFault(413, "the body is longer than this server takes") }

    private func meetExpectation(_ head: RequestHead) throws {
        guard let expectation = head.headers[.expect] else { return }
        guard expectation.lowercased() == "100-continue" else { throw RequestFault(417, "an unknown expectation") }
        guard core.configuration.sendsContinue, input.isEmpty, head.version == "1.1" else { return }
        budget = .max
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        try send(interim.span)
    }

    private func readBytes(
        _ count: Int64, keeps: Bool, into request: inout RecordedRequest, _ watch: Watch?
    ) throws {
        var left = count
        while left > 0 {
            if input.isEmpty { try receive() }
            var piece: Data?
            let taken = input.take(upTo: Int(clamping: left)) { bytes in
                if keeps { request.body.append(contentsOf: bytes) }
                if watch != nil { piece = Data(copying: bytes) }
                return bytes.count
            }
            left -= Int64(taken)
            request.bodyLength += Int64(taken)
            if let piece { try perform(watch?(request, piece)) }
        }
    }

    /// The size of the next chunk, its extensions ignored (RFC 9112, section 7.1).
    private func readChunkSize() throws -> Int64 {
        let line = try readLine(limit: 4096)
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        let values = digits.compactMap(Hexadecimal.value(of:))
        guard !digits.isEmpty, digits.count <= 15, values.count == digits.count else {
            throw RequestFault(400, "the size of a chunk is not a hexadecimal number")
        }
        return values.reduce(0) { $0 << 4 | Int64($1) }
    }

    private func readTrailers(_ request: inout RecordedRequest) throws {
        var lines: [UInt8] = []
        while true {
            let line = try readLine(limit: core.configuration.maximumHeadBytes)
            if line.isEmpty { break }
            lines += line + [0x0D, 0x0A]
            if lines.count > core.configuration.maximumHeadBytes {
                throw RequestFault(431, "the trailers are too long")
            }
        }
        var rest = lines[...]
        request.trailers = try RequestHead.fields(&rest)
    }

    private func readLine(limit: Int) throws -> [UInt8] {
        while true {
            if let line = try input.takeLine(limit: limit) { return line }
            try receive()
        }
    }
}
