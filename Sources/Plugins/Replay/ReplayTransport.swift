public import Errand
public import ErrandEssentials
public import ErrandRecording
import ErrandSupport
import Synchronization

/// A transport that answers requests with recorded responses. The recording is an HTTP Archive (HAR 1.2) from Errand,
/// Chromium, Firefox or mitmproxy.
///
/// ```swift
/// let replay = try ReplayTransport(har: folder.appending(path: "sign-in.har"))
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: replay)
/// …
/// try replay.checkAllUsed()
/// ```
///
/// A request gets the response that was recorded for the same method and URL. If a request is repeated, each recorded
/// response is used once, in the order of the file. Redirects, failures and bodies are replayed as they were recorded.
///
/// A request that isn't in the recording throws ``ReplayError``, which contains the nearest entry and the differences.
/// To send or record such requests, choose another ``ReplayMode``. WebSockets can't be replayed. In the other modes,
/// the mode's transport opens them.
///
/// A file above 4 MiB stays open, and bodies are read on demand, so a file of 1 GB needs little memory. Each transport
/// keeps track of the entries that it has used. Therefore, use a separate transport in each parallel test. Several
/// transports can use the same file. You can use a transport from any thread.
public final class ReplayTransport: Transport {
    private struct State {
        var uses: [Int: Int] = [:]
        var turns: [String: Int] = [:]
        var incompleteBodies: [Int] = []
        var unmatched: [String] = []
    }

    /// The URL of the archive. It's nil if the archive is in memory.
    public let file: URL?
    let index: HARIndex
    let mode: ReplayMode
    let recorder: ReplayRecorder
    private let table: ReplayTable
    private let matching: ReplayMatching
    private let timing: ReplayTiming
    private let repeatsLastResponse: Bool
    let redaction: Redaction
    private let state = Mutex(State())

    /// Opens an archive in a file. Blocks while it reads the file. The memory use depends on the number of entries, not
    /// on the size of the file.
    ///
    /// - Parameters:
    ///   - file: The URL of the archive. The file must exist, unless the mode records.
    ///   - mode: Determines which requests are answered, sent or recorded. Defaults to ``ReplayMode/replayOnly``.
    ///   - matching: Decides whether a request equals a recorded request. By default, compares the method and the URL.
    ///   - timing: Determines when responses arrive. By default, they arrive at once.
    ///   - repeatsLastResponse: Whether further equal requests get the last recorded response again. If false, such
    ///     requests count as not recorded. Defaults to false.
    ///   - redaction: The rules for masking secrets in new recordings, errors and reports.
    ///   - maximumIndexBytes: The approximate memory limit in bytes for methods, URLs and positions of entries.
    ///     Defaults to 128 MiB, which is enough for 300,000 entries.
    /// - Throws: ``HARError``.
    public convenience init(
        har file: URL, mode: ReplayMode = .replayOnly, matching: ReplayMatching = .methodAndURL,
        timing: ReplayTiming = .off, repeatsLastResponse: Bool = false, redaction: Redaction = Redaction(),
        maximumIndexBytes: Int = 128 << 20
    ) throws {
        let isAbsent = mode.records && (try? FileStatus(at: file.path)) == nil
        let source = mode.kind == .recordAll || isAbsent ? nil : try HARSource(contentsOf: file)
        try self.init(
            file: file, source: source, mode: mode, matching: matching, timing: timing,
            repeatsLastResponse: repeatsLastResponse, redaction: redaction, maximumIndexBytes: maximumIndexBytes)
    }

    /// Opens an archive in memory. The other parameters are the same as for a file.
    ///
    /// - Throws: ``HARError``.
    public convenience init(
        har data: Data, mode: ReplayMode = .replayOnly, matching: ReplayMatching = .methodAndURL,
        timing: ReplayTiming = .off, repeatsLastResponse: Bool = false, redaction: Redaction = Redaction(),
        maximumIndexBytes: Int = 128 << 20
    ) throws {
        let source = mode.kind == .recordAll ? nil : HARSource(data)
        try self.init(
            file: nil, source: source, mode: mode, matching: matching, timing: timing,
            repeatsLastResponse: repeatsLastResponse, redaction: redaction, maximumIndexBytes: maximumIndexBytes)
    }

    /// Opens an archive that a recorder or your code has created. The other parameters are the same as for a file.
    ///
    /// ```swift
    /// let replay = try ReplayTransport(har: recorder.harFile())
    /// ```
    ///
    /// - Throws: ``HARError``, or `EncodingError` if a time isn't finite.
    public convenience init(
        har archive: HARFile, mode: ReplayMode = .replayOnly, matching: ReplayMatching = .methodAndURL,
        timing: ReplayTiming = .off, repeatsLastResponse: Bool = false, redaction: Redaction = Redaction(),
        maximumIndexBytes: Int = 128 << 20
    ) throws {
        try self.init(
            har: try archive.encoded(), mode: mode, matching: matching, timing: timing,
            repeatsLastResponse: repeatsLastResponse, redaction: redaction, maximumIndexBytes: maximumIndexBytes)
    }

    private init(
        file: URL?, source: HARSource?, mode: ReplayMode, matching: ReplayMatching, timing: ReplayTiming,
        repeatsLastResponse: Bool, redaction: Redaction, maximumIndexBytes: Int
    ) throws(HARError) {
        let index: HARIndex
        if let source { index = try HARIndex(source, memoryLimit: maximumIndexBytes) } else { index = HARIndex() }
        (self.file, self.index, self.mode, self.matching) = (file, index, mode, matching)
        (self.timing, self.repeatsLastResponse, self.redaction) = (timing, repeatsLastResponse, redaction)
        table = try ReplayTable(index, matching: matching, redaction: redaction)
        recorder = ReplayRecorder(redaction)
    }

    /// Returns the recorded response to an equal request, or sends the request if the mode allows it. Throws
    /// ``ReplayError`` if the request isn't in the recording.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try Task.checkCancellation()
        guard mode.kind != .recordAll else { return try await recorder.send(request, options, over: mode.transport) }
        var request = request
        let data = matching.body ? try await Self.collectBody(of: &request) : nil
        let body = matching.body ? ReplayBody(Array(data ?? Data()), of: request) : nil
        let found = try table.find(request, body)
        if let position = take(found) { return try await replay(position, for: request, options: options) }
        guard let transport = mode.transport else {
            throw missing(request, body: body, used: found.exact + found.others)
        }
        if mode.records { return try await recorder.send(request, options, over: transport) }
        note(request)
        return try await transport.send(request, options: options)
    }

    private static func collectBody(of request: inout HTTPRequest) async throws -> Data {
        if let data = request.body.data { return data }
        let data = try await request.body.open().collect(upTo: ReplayTable.bodyLimit)
        if !request.body.isReplayable { request.body = .data(data, contentType: request.body.contentType) }
        return data
    }

    // MARK: Entries

    private func take(_ found: (key: String, exact: [Int], others: [Int])) -> Int? {
        state.withLock { state in
            let turn = state.turns[found.key] ?? 0
            var position: Int?
            if turn < found.exact.count {
                position = found.exact[turn]
                state.turns[found.key] = turn + 1
            } else {
                position = found.others.first { state.uses[$0] == nil }
            }
            if position == nil, repeatsLastResponse { position = found.others.last ?? found.exact.last }
            if let position { state.uses[position, default: 0] += 1 }
            return position
        }
    }

    private func replay(
        _ position: Int, for request: HTTPRequest, options: TransportOptions
    ) async throws -> HTTPResponse {
        let item = index.items[position]
        let response = ReplayedResponse(
            source: index.source, number: item.number, entry: try index.entry(item), timing: timing)
        if response.lacksBody, request.method != .head {
            state.withLock { if !$0.incompleteBodies.contains(position) { $0.incompleteBodies.append(position) } }
        }
        return try await response.respond(to: request, options)
    }

    private func missing(_ request: HTTPRequest, body: ReplayBody?, used: [Int]) -> ReplayError {
        note(request)
        guard let last = used.max() else { return table.unmatched(request, body) }
        let entries = used.count == 1 ? "its only response has been used" : "its \(used.count) responses have been used"
        return ReplayError(
            .exhausted, request, nearest: ReplayEntry(index.items[last], redaction), differences: [entries],
            redaction: redaction)
    }

    func note(_ request: HTTPRequest) {
        let text = request.line(redaction)
        state.withLock { if $0.unmatched.count < 100 { $0.unmatched.append(text) } }
    }

    // MARK: Report

    /// The entries that haven't been used so far, in the order of the file.
    public var unusedEntries: [ReplayEntry] {
        let uses = state.withLock { $0.uses }
        return index.items.indices.filter { uses[$0] == nil }.map { ReplayEntry(index.items[$0], redaction) }
    }

    /// The state of the replay so far.
    public var report: ReplayReport {
        let state = state.withLock { $0 }
        var report = ReplayReport()
        (report.entryCount, report.ignoredEntryCount) = (index.items.count, index.count - index.items.count)
        report.unused = unusedEntries
        report.incompleteBodies = state.incompleteBodies.sorted().map { ReplayEntry(index.items[$0], redaction) }
        report.unmatched = state.unmatched
        (report.recordedCount, report.notRecorded) = recorder.summary
        return report
    }

    /// Throws ``ReplayError/Code/unusedEntries`` if some entries weren't used. Call this method at the end of a test.
    public func checkAllUsed() throws {
        let unused = unusedEntries
        if !unused.isEmpty { throw ReplayError(.unusedEntries, unused: unused, redaction: redaction) }
    }
}

extension ReplayTransport: ConnectingTransport {
    /// Opens a connection for another protocol, such as WebSocket, with the mode's transport. The connection isn't
    /// recorded.
    ///
    /// - Throws: ``ReplayError/Code/notReplayed`` if the mode doesn't have a transport, or `transportUnavailable` if
    ///   the transport can't open connections.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        guard let transport = mode.transport else {
            note(request)
            throw ReplayError(.notReplayed, request, redaction: redaction)
        }
        let connection = try await transport.connecting().connect(for: request, options: options)
        if mode.records { recorder.omit(request, "it opens a connection for another protocol, such as a WebSocket") }
        return connection
    }
}

extension ReplayTransport {
    /// The exchanges that were recorded during the replay, in the order of their requests. Secrets are masked. The
    /// file's entries aren't included.
    public var newExchanges: [RecordedExchange] { recorder.exchanges }

    /// Saves the recording. The file contains the archive's entries, byte for byte, followed by the new entries. In the
    /// mode ``ReplayMode/recordAll(over:)``, it contains only new entries. In other modes, the archive's own file isn't
    /// written if there aren't new entries.
    ///
    /// ```swift
    /// let cassette = try ReplayTransport(har: file, mode: .recordNew(over: .system))
    /// …
    /// try cassette.save()
    /// ```
    ///
    /// This replaces the file atomically. Only its owner can read the file. The recording contains a response only if
    /// its body was read to the end.
    ///
    /// - Parameter file: The URL of the file to write. Defaults to the archive's own file. Required if the archive is
    ///   in memory.
    /// - Throws: ``HARError/Code/fileFailed``.
    public func save(to file: URL? = nil) throws {
        guard let target = file ?? self.file else {
            throw HARError(.fileFailed, "the archive has no file to save to")
        }
        let exchanges = recorder.exchanges
        let isPresent = (try? FileStatus(at: target.path)) != nil
        if file == nil || file == self.file, exchanges.isEmpty, isPresent, mode.kind != .recordAll { return }
        do {
            let temporary = try SystemFile.temporary(beside: target.path, permissions: 0o600)
            do {
                try write(exchanges, to: temporary)
                try temporary.move(to: target.path)
            } catch {
                SystemFile.remove(temporary.path)
                throw error
            }
        } catch let failure as SystemFile.Failure { throw HARError(.fileFailed, failure.description) }
    }

    private func write(_ exchanges: [RecordedExchange], to file: borrowing SystemFile) throws {
        let creator = HARFile.Creator(name: "Errand", version: ErrandInfo.version)
        let frame = HARFile(log: HARFile.Log(creator: creator, entries: []))
        // The keys are sorted, so the version comes after the list of entries.
        let parts = String(decoding: try frame.encoded(), as: UTF8.self).split(
            separator: "\"entries\" : [", maxSplits: 1)
        guard parts.count == 2, let bracket = parts[1].firstIndex(of: "]") else {
            throw HARError(.fileFailed, "the archive's JSON can't be encoded")
        }
        try file.write(Data("\(parts[0])\"entries\" : [".utf8))
        var separator = "\n"
        for range in index.ranges {
            try file.write(Data(separator.utf8))
            separator = ",\n"
            var rest = range
            while !rest.isEmpty {
                let piece = try index.source.read(min(256 << 10, rest.count), at: rest.lowerBound)
                guard !piece.isEmpty else {
                    throw HARError(.truncated, "the file has shrunk", byte: rest.lowerBound)
                }
                try file.write(piece)
                rest = rest.lowerBound + piece.count..<rest.upperBound
            }
        }
        for exchange in exchanges {
            try file.write(Data(separator.utf8))
            separator = ",\n"
            var entry = HARFile.Entry(exchange)
            entry.keepBytes(of: exchange.request.body)
            try file.write(try entry.encoded())
        }
        try file.write(Data("\n    \(parts[1][bracket...])\n".utf8))
        try file.flush()
    }
}

extension HARFile.Entry {
    fileprivate mutating func keepBytes(of body: RecordedBody) {
        guard body.omission == nil, body.copiedBytes > 0, body.text == nil else { return }
        request.postData?.text = body.data.base64EncodedString()
        request.postData?.encoding = "base64"
        request.postData?.comment = nil
    }
}
