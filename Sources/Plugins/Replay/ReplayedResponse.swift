import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

struct ReplayedResponse {
    /// The size in bytes above which a body is read on demand.
    private static let memoryLimit = 4 << 20

    let source: HARSource
    let number: Int
    let entry: HAREntry
    let timing: ReplayTiming

    var lacksBody: Bool { entry.isCut || entry.status > 0 && (entry.body.text ?? 0..<0).isEmpty && entry.size > 0 }

    func respond(to request: HTTPRequest, _ options: TransportOptions) async throws -> HTTPResponse {
        if timing == .recorded { try await waitForHead(options) }
        guard entry.status >= 100 else { throw failure("the recording has no response to this request") }
        var headers = entry.headers
        headers.remove(.transferEncoding)
        restoreLocation(&headers)
        let hasNoBody = request.method == .head || entry.status == 204 || entry.status == 304
        let content = hasNoBody ? .empty : try await body(&headers, options)
        if !hasNoBody { restoreType(&headers) }
        let sent = request.body.length ?? 0
        options.report(
            .progress(
                TransferProgress(
                    sent: sent, totalToSend: sent, received: content.data.map { Int64($0.count) } ?? 0,
                    totalToReceive: content.length)))
        return HTTPResponse(
            to: request, status: entry.status, headers: headers, body: content, version: entry.version)
    }

    private func waitForHead(_ options: TransportOptions) async throws {
        let limit = min(entry.timeToHead, options.timeout)
        if limit > .zero { try await options.time.sleep(until: options.time.instant(after: limit)) }
        if entry.timeToHead > options.timeout {
            throw ErrandError(.timedOut, "the server sent or received no bytes for \(duration: options.timeout)")
        }
    }

    /// Replaces a `Location` that was masked completely with the recorded `redirectURL`, in which only secrets are
    /// masked.
    private func restoreLocation(_ headers: inout HTTPHeaders) {
        guard !entry.redirectURL.isEmpty, (300...399).contains(entry.status) else { return }
        if headers[.location].map({ $0 == Redaction.mask }) ?? true { headers[.location] = entry.redirectURL }
    }

    /// Restores the type of a body, because some programs write the type only next to the body's text. If the text is
    /// missing, the type is only a guess and isn't used.
    private func restoreType(_ headers: inout HTTPHeaders) {
        guard !headers.contains(.contentType), entry.body.text?.isEmpty == false, let type = entry.body.mimeType,
            let essence = MediaType.essence(of: type), essence != "application/x-unknown-content-type",
            type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return }
        headers[.contentType] = type
    }

    // MARK: Body

    private func body(_ headers: inout HTTPHeaders, _ options: TransportOptions) async throws -> HTTPBody {
        let receive = timing == .recorded ? entry.timeToReceive : .zero
        // An exchange that fails after the response's head, for example because the app cancels it, has an entry with
        // the status and with an error.
        let end = entry.failure.isEmpty ? nil : failure("the recorded exchange failed before the end of the body")
        guard let range = entry.body.text else {
            settle(&headers, count: 0, beginning: [])
            return end.map { HTTPBody(source: ReplayedBody(nil, pace: .zero, time: options.time, end: $0)) } ?? .empty
        }
        var stored = HARBody(
            source, range, isBase64: entry.body.isBase64, path: "log.entries[\(number)].response.content.text")
        if range.count > Self.memoryLimit {
            if let plain = try mislabelledText(range) { stored = plain }
            let first = try stored.next() ?? []
            settle(&headers, count: nil, beginning: first)
            let pace = receive / Double(range.count)
            return HTTPBody(source: ReplayedBody(stored, first: first, pace: pace, time: options.time, end: end))
        }
        var bytes: [UInt8]
        do { bytes = try stored.all() } catch {
            guard var plain = try mislabelledText(range) else { throw error }
            bytes = try plain.all()
        }
        let charset = (headers[.contentType] ?? entry.body.mimeType).flatMap { MediaType(parsing: $0) }?
            .parameters["charset"]
        bytes = RecordedText.bytes(bytes, charset: charset, sizes: sizes)
        settle(&headers, count: bytes.count, beginning: bytes)
        guard receive > .zero || end != nil else { return HTTPBody(Data(bytes)) }
        if end == nil, options.collectsBody(ofStatus: entry.status) {
            try await options.time.sleep(until: options.time.instant(after: receive))
            return HTTPBody(Data(bytes))
        }
        let length = Int64(bytes.count)
        let pace = receive / Double(max(1, length))
        return HTTPBody(
            length: end == nil ? length : nil,
            source: ReplayedBody(nil, first: bytes, pace: pace, time: options.time, end: end))
    }

    /// Returns a text that is marked as Base64 but has the recorded size as plain text. Some files from Firefox contain
    /// such texts.
    private func mislabelledText(_ range: Range<Int>) throws -> HARBody? {
        // If each recorded size fits the decoded bytes (three bytes for four characters), the mark is right. Checking
        // this first avoids decoding most bodies.
        guard entry.body.isBase64, sizes.contains(where: { $0 > range.count / 4 * 3 }) else { return nil }
        let path = "log.entries[\(number)].response.content.text"
        if try isValid(HARBody(source, range, isBase64: true, path: path)) { return nil }
        let plain = HARBody(source, range, isBase64: false, path: path)
        var (body, bytes, characters) = (plain, 0, 0)
        while let piece = try body.next() {
            bytes += piece.count
            characters += piece.count(where: { !UTF8.isContinuation($0) })
        }
        return sizes.contains(bytes) || sizes.contains(characters) ? plain : nil
    }

    private func isValid(_ body: HARBody) throws -> Bool {
        var body = body
        do { while try body.next() != nil {} } catch {
            if error.code == .damagedBody { return false }
            throw error
        }
        return true
    }

    private var sizes: [Int] {
        guard entry.size >= 0 else { return [] }
        return [entry.size, entry.size + entry.compression].compactMap { Int(exactly: $0.rounded()) }
    }

    /// Corrects the fields for the content coding and the length. Most programs decode a body before they record it, so
    /// both fields may contradict the recorded body.
    private func settle(_ headers: inout HTTPHeaders, count: Int?, beginning: [UInt8]) {
        let length = ContentLength.parse(headers.values(of: .contentLength))
        let isAsLong = count.map { length == Int64($0) } ?? false
        if let coding = headers[.contentEncoding],
            !isCoded(beginning, as: coding.lowercased(), isAsLong: isAsLong, length: length)
        {
            headers.remove(.contentEncoding)
        }
        if !isAsLong { headers.remove(.contentLength) }
    }

    private func isCoded(_ bytes: [UInt8], as coding: String, isAsLong: Bool, length: Int64?) -> Bool {
        guard entry.body.isBase64, isAsLong || length == nil, !bytes.isEmpty else { return false }
        switch coding {
        case "gzip", "x-gzip": return bytes.starts(with: [0x1F, 0x8B])
        case "zstd": return bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        case "deflate": return bytes[0] & 0x0F == 8
        // Other codings don't have a signature, so only the length shows whether the body is coded.
        default: return isAsLong
        }
    }

    // MARK: Failures

    private func failure(_ message: String) -> ErrandError {
        let last = entry.comment.split(separator: ",").last.map { ASCII.trimmed($0) } ?? ""
        let text = entry.failure.isEmpty ? String(last) : entry.failure
        return ErrandError(Self.code(text), message)
    }

    /// Returns the code for another program's error. Such an error is a text such as `net::ERR_NAME_NOT_RESOLVED`.
    private static func code(_ text: String) -> ErrandError.Code {
        let codes: [ErrandError.Code] = [
            .timedOut, .nameLookupFailed, .cannotConnect, .connectionLost, .insecureConnection, .invalidResponse,
            .truncated, .bodyTooLarge, .transportFailed, .transportUnavailable, .encodingFailed, .fileFailed,
        ]
        if let code = codes.first(where: { $0.description == text }) { return code }
        let upper = text.uppercased()
        let parts: [(String, ErrandError.Code)] = [
            ("NAME_", .nameLookupFailed), ("TIMED_OUT", .timedOut), ("CERT", .insecureConnection),
            ("SSL", .insecureConnection), ("REFUSED", .cannotConnect), ("UNREACHABLE", .cannotConnect),
            ("INTERNET_DISCONNECTED", .cannotConnect), ("INVALID_", .invalidResponse),
            ("EMPTY_RESPONSE", .connectionLost),
        ]
        return parts.first { upper.contains($0.0) }?.1 ?? .connectionLost
    }
}

private final class ReplayedBody: HTTPBodySource {
    private struct State {
        var stored: HARBody?
        var first: [UInt8]
    }

    private let state: Mutex<State>
    private let pace: Duration
    private let time: any TimeSource
    private let end: ErrandError?

    /// - Parameters:
    ///   - pace: The time per byte.
    ///   - end: The error after the last byte.
    init(
        _ stored: HARBody?, first: [UInt8] = [], pace: Duration, time: any TimeSource, end: ErrandError? = nil
    ) {
        state = Mutex(State(stored: stored, first: first))
        (self.pace, self.time, self.end) = (pace, time, end)
    }

    func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        let bytes = try state.withLock { state throws(HARError) in
            let first = state.first
            state.first = []
            return first.isEmpty ? try state.stored?.next() ?? [] : first
        }
        if bytes.isEmpty {
            if let end { throw end }
            return nil
        }
        if pace > .zero { try await time.sleep(until: time.instant(after: pace * bytes.count)) }
        return Data(bytes)
    }

    func cancel() {}
}

/// Restores the bytes of a body from its recorded text. Archives contain characters, whatever charset the body had.
enum RecordedText {
    /// - Parameter sizes: The possible sizes of the body, if the archive contains them.
    static func bytes(_ text: [UInt8], charset: String?, sizes: [Int]) -> [UInt8] {
        let isASCII = text.allSatisfy { $0 < 0x80 }
        let mask = Array(Redaction.mask.utf8)
        if sizes.contains(text.count) || !isASCII && text.firstRange(of: mask) != nil { return text }
        guard let scalars = String(validating: text, as: UTF8.self)?.unicodeScalars else { return text }
        let known = charset.flatMap { Charset(label: $0) }
        if let known, known.name.hasPrefix("utf-16") {
            return wide(scalars, isBig: known.name.hasSuffix("be"), isMarked: charset?.lowercased() == "utf-16", sizes)
        }
        // If the recorded size is three bytes longer, the browser has removed a byte order mark, so it's added again.
        if sizes.contains(text.count + 3), !text.starts(with: [0xEF, 0xBB, 0xBF]) { return [0xEF, 0xBB, 0xBF] + text }
        if isASCII { return text }
        if let known, known != .utf8, let bytes = EncodedText.bytes(scalars, in: known) { return bytes }
        guard sizes.contains(scalars.count) else { return text }
        return Charset(label: "windows-1252").flatMap { EncodedText.bytes(scalars, in: $0) } ?? text
    }

    /// - Parameter isMarked: Whether the name of the charset lacks the byte order. The body then begins with a byte
    ///   order mark, unless its recorded size contradicts this.
    private static func wide(
        _ scalars: String.UnicodeScalarView, isBig: Bool, isMarked: Bool, _ sizes: [Int]
    ) -> [UInt8] {
        let units = String(scalars).utf16
        let hasMark = sizes.contains(2 * units.count + 2) || isMarked && !sizes.contains(2 * units.count)
        return ((hasMark ? [0xFEFF] : []) + units).flatMap { unit in
            let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
            return isBig ? bytes.reversed() : bytes
        }
    }
}

enum EncodedText {
    private typealias Table = [Unicode.Scalar: [UInt8]]

    /// The tables of the charsets that were used so far. The standard defines 40 charsets.
    private static let tables = Mutex<[Charset: Table]>([:])

    /// Returns the bytes of a text in a charset. Returns nil if a character isn't in the charset, or if it needs more
    /// than two bytes or an escape sequence.
    static func bytes(_ text: String.UnicodeScalarView, in charset: Charset) -> [UInt8]? {
        let table = table(of: charset)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for scalar in text {
            if scalar.value < 0x80 {
                bytes.append(UInt8(scalar.value))
            } else if let encoded = table[scalar] {
                bytes += encoded
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func table(of charset: Charset) -> Table {
        if let known = tables.withLock({ $0[charset] }) { return known }
        var table: Table = [:]
        func add(_ bytes: [UInt8]) {
            guard let text = charset.decode(Data(bytes), ignoresByteOrderMark: true)?.unicodeScalars,
                let scalar = text.first, text.count == 1, table[scalar] == nil
            else { return }
            table[scalar] = bytes
        }
        for byte in UInt8(0x80)...0xFF { add([byte]) }
        let pairs: Set<String> = ["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"]
        if pairs.contains(charset.name) {
            // In these two charsets, the bytes of extensions come last, because the standard prefers other bytes for
            // the same characters.
            let extensions: ClosedRange<UInt8> = charset.name == "shift_jis" ? 0xED...0xEE : 0x81...0xA0
            let leads = (UInt8(0x81)...0xFE).filter { !extensions.contains($0) } + Array(extensions)
            for lead in leads { for trail in UInt8(0x40)...0xFE { add([lead, trail]) } }
        }
        if charset.name == "windows-1252" {
            // Some programs treat this charset as Latin-1. In their recordings, these bytes are control characters.
            for byte in UInt8(0x80)...0x9F where table[Unicode.Scalar(byte)] == nil {
                table[Unicode.Scalar(byte)] = [byte]
            }
        }
        tables.withLock { $0[charset] = table }
        return table
    }
}
