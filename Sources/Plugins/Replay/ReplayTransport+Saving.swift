import Errand
public import ErrandEssentials
public import ErrandRecording
import ErrandSupport

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
