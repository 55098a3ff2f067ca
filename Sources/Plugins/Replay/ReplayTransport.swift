public import Errand
public import ErrandEssentials
public import ErrandRecording
import ErrandSupport
import Synchronization

/// A transport that responds from recorded traffic: an HTTP Archive (HAR 1.2) of Errand, Chromium, Firefox or mitmproxy.
///
/// ```swift
/// let replay = try ReplayTransport(har: folder.appending(path: "sign-in.har"))
/// let agent = NetworkAgent(baseURL: "https://api.example.com", transport: replay)
/// …
/// try replay.checkAllUsed()
/// ```
///
/// A request gets the response that was recorded for the same method and URL; repeated requests get theirs in the order
/// of the file, each once. Redirects, failures and bodies are replayed as they were recorded. A request that was not
/// recorded throws ``ReplayError``, which names the nearest entry and the differences; ``ReplayMode`` has other ways.
/// WebSockets are not replayed; a mode that passes requests on passes them on as well.
///
/// A file of more than 4 MiB stays open and is read in one pass of 64 KiB at a time; bodies are read on demand, so a
/// file of 1 GB takes little memory. Each transport counts for itself: tests that run in parallel have one each, and
/// may share the file. Safe to use from any thread.
public final class ReplayTransport: Transport {
    private struct State {
        /// The number of uses of each item of the index.
        var uses: [Int: Int] = [:]
        /// The number of used items of each key.
        var turns: [String: Int] = [:]
        var incompleteBodies: [Int] = []
        var unmatched: [String] = []
    }

    /// The URL of the archive; nil for one from memory.
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

    /// Opens an archive. Blocks while it reads the file, in memory that does not depend on its size.
    ///
    /// - Parameters:
    ///   - file: the archive. It has to exist unless the mode records.
    ///   - mode: the treatment of requests; ``ReplayMode/replayOnly`` by default.
    ///   - matching: the rule by which a request equals a recorded one; method and URL by default.
    ///   - timing: the time at which responses arrive; at once by default.
    ///   - repeatsLastResponse: whether later requests get the last response to an equal request again; if not, they
    ///     count as not recorded. False by default.
    ///   - redaction: the rules for secrets in a new recording, an error and a report.
    ///   - maximumIndexBytes: the approximate number of bytes that methods, URLs and positions of the entries may take in
    ///     memory; 128 MiB by default, which is enough for 300,000 entries.
    /// - Throws: ``HARError``.
    public convenience init(
        har file: URL, mode: ReplayMode = .replayOnly, matching: ReplayMatching = .methodAndURL,
        timing: ReplayTiming = .off, repeatsLastResponse: Bool = false, redaction: Redaction = Redaction(),
        maximumIndexBytes: Int = 128 << 20
    ) throws {
        let isAbsent = mode.records && (try? FileStatus(at: file.path)) == nil
        let source = mode.kind == .recordAll || isAbsent ? nil : try HARSource(contentsOf: file)
        try self.init(file, source, mode, matching, timing, repeatsLastResponse, redaction, maximumIndexBytes)
    }

    /// Opens an archive in memory; the other parameters are those for a file.
    ///
    /// - Throws: ``HARError``.
    public convenience init(
        har data: Data, mode: ReplayMode = .replayOnly, matching: ReplayMatching = .methodAndURL,
        timing: ReplayTiming = .off, repeatsLastResponse: Bool = false, redaction: Redaction = Redaction(),
        maximumIndexBytes: Int = 128 << 20
    ) throws {
        let source = mode.kind == .recordAll ? nil : HARSource(data)
        try self.init(nil, source, mode, matching, timing, repeatsLastResponse, redaction, maximumIndexBytes)
    }

    /// Opens an archive that a recorder has made, or that was made in code; the other parameters are those for a file.
    ///
    /// ```swift
    /// let replay = try ReplayTransport(har: recorder.harFile())
    /// ```
    ///
    /// - Throws: ``HARError``, or `EncodingError` if a time is not finite.
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
        _ file: URL?, _ source: HARSource?, _ mode: ReplayMode, _ matching: ReplayMatching, _ timing: ReplayTiming,
        _ repeatsLastResponse: Bool, _ redaction: Redaction, _ maximumIndexBytes: Int
    ) throws(HARError) {
        let index: HARIndex
        if let source { index = try HARIndex(source, memoryLimit: maximumIndexBytes) } else { index = HARIndex() }
        (self.file, self.index, self.mode, self.matching) = (file, index, mode, matching)
        (self.timing, self.repeatsLastResponse, self.redaction) = (timing, repeatsLastResponse, redaction)
        table = try ReplayTable(index, matching, redaction)
        recorder = ReplayRecorder(redaction)
    }

    /// Responds from the recording, or as the mode says.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try Task.checkCancellation()
        guard mode.kind != .recordAll else { return try await recorder.send(request, options, over: mode.transport) }
        var request = request
        let data = matching.body ? try await Self.collectBody(of: &request) : nil
        let body = matching.body ? ReplayBody(Array(data ?? Data()), of: request) : nil
        let found = try table.find(request, body)
        if let position = take(found) { return try await replay(position, request, options) }
        guard let transport = mode.transport else { throw missing(request, body, found.exact + found.others) }
        if mode.records { return try await recorder.send(request, options, over: transport) }
        note(request)
        return try await transport.send(request, options: options)
    }

    /// The body of a request in memory, which replaces one that can be read only once.
    private static func collectBody(of request: inout HTTPRequest) async throws -> Data {
        if let data = request.body.data { return data }
        let data = try await request.body.open().collect(upTo: ReplayTable.bodyLimit)
        if !request.body.isReplayable { request.body = .data(data, contentType: request.body.contentType) }
        return data
    }

    // MARK: Entries

    /// The next of the entries that were found, which counts as used then.
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
        _ position: Int, _ request: HTTPRequest, _ options: TransportOptions
    ) async throws -> HTTPResponse {
        let item = index.items[position]
        let response = ReplayedResponse(
            source: index.source, number: item.number, entry: try index.entry(item), timing: timing)
        if response.lacksBody, request.method != .head {
            state.withLock { if !$0.incompleteBodies.contains(position) { $0.incompleteBodies.append(position) } }
        }
        return try await response.respond(to: request, options)
    }

    private func missing(_ request: HTTPRequest, _ body: ReplayBody?, _ used: [Int]) -> ReplayError {
        note(request)
        guard let last = used.max() else { return table.unmatched(request, body) }
        let entries = used.count == 1 ? "its one response has been used" : "its \(used.count) responses have been used"
        return ReplayError(
            .exhausted, request, nearest: ReplayEntry(index.items[last], redaction), differences: [entries],
            redaction: redaction)
    }

    /// Adds a request that is not in the recording to the report.
    func note(_ request: HTTPRequest) {
        let text = request.line(redaction)
        state.withLock { if $0.unmatched.count < 100 { $0.unmatched.append(text) } }
    }

    // MARK: Report

    /// The entries that no request has used so far, in the order of the file.
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

    /// Throws ``ReplayError/Code/unusedEntries`` if no request has used some of the entries; for the end of a test.
    public func checkAllUsed() throws {
        let unused = unusedEntries
        if !unused.isEmpty { throw ReplayError(.unusedEntries, unused: unused, redaction: redaction) }
    }
}

extension ReplayTransport: ConnectingTransport {
    /// Opens a connection for another protocol than HTTP, such as a WebSocket, over the transport that the mode passes
    /// requests on to. What goes over it is not recorded.
    ///
    /// - Throws: ``ReplayError/Code/notReplayed`` where the mode has no such transport, and `transportUnavailable` where
    ///   that transport opens no connections.
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
    /// The exchanges that were recorded so far, secrets masked, in the order in which their requests were sent; without
    /// the entries of the file.
    public var newExchanges: [RecordedExchange] { recorder.exchanges }

    /// Writes the recording: the entries of the file, byte for byte, and behind them the new ones. With
    /// ``ReplayMode/recordAll(over:)`` only the new ones. Does nothing if the file exists and nothing is new.
    ///
    /// ```swift
    /// let cassette = try ReplayTransport(har: file, mode: .recordNew(over: .system))
    /// …
    /// try cassette.save()
    /// ```
    ///
    /// The file is replaced in one step, and only its owner can read it. A response is included once its body was read
    /// to the end.
    ///
    /// - Parameter file: another URL for the file; needed for an archive from memory.
    /// - Throws: ``HARError/Code/fileFailed``.
    public func save(to file: URL? = nil) throws {
        guard let target = file ?? self.file else {
            throw HARError(.fileFailed, "the archive has no file to be saved to")
        }
        let exchanges = recorder.exchanges
        let isPresent = (try? FileStatus(at: target.path)) != nil
        if file == nil || file == self.file, exchanges.isEmpty, isPresent, mode.kind != .recordAll { return }
        let temporary = SystemFile.temporary(beside: target.path)
        do {
            try write(exchanges, to: temporary)
            try SystemFile.rename(temporary, to: target.path)
        } catch {
            SystemFile.remove(temporary)
            if let failure = error as? SystemFile.Failure { throw HARError(.fileFailed, failure.description) }
            throw error
        }
    }

    private func write(_ exchanges: [RecordedExchange], to path: String) throws {
        let file = try SystemFile(creating: path, mode: 0o600)
        let creator = HARFile.Creator(name: "Errand", version: ErrandInfo.version)
        let frame = HARFile(log: HARFile.Log(creator: creator, entries: []))
        // The names are sorted: the list of entries is followed by the version.
        let parts = String(decoding: try frame.encoded(), as: UTF8.self).split(
            separator: "\"entries\" : [", maxSplits: 1)
        guard parts.count == 2, let bracket = parts[1].firstIndex(of: "]") else {
            throw HARError(.fileFailed, "the frame of the archive cannot be written")
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
                    throw HARError(.truncated, "the file has become shorter", byte: rest.lowerBound)
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
    /// Adds a body of a request that is not text, in Base64.
    fileprivate mutating func keepBytes(of body: RecordedBody) {
        guard body.omission == nil, body.copiedBytes > 0, body.text == nil else { return }
        request.postData?.text = body.data.base64EncodedString()
        request.postData?.encoding = "base64"
        request.postData?.comment = nil
    }
}
