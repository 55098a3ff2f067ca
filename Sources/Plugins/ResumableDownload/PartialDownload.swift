public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
public import ErrandTransfers

/// An unfinished download whose received bytes are on disk. To resume it, send the same request again.
///
/// ```swift
/// for partial in try ResumableDownloadFilter.partialDownloads(in: folder) where !partial.isActive {
///     print(partial.name ?? partial.url, partial.received, partial.total ?? 0)
///     try partial.remove()
/// }
/// ```
public struct PartialDownload: Sendable, Identifiable {
    /// An ID for the request and destination. It's the same for each start of the download.
    public let id: String
    /// The URL for display, with masked query values. Empty if the record is damaged.
    public let url: String
    /// The file's future name. Nil until the server has sent it.
    public let name: String?
    /// The number of received bytes that needn't be requested again.
    public let received: Int64
    /// The file's length in bytes, if known.
    public let total: Int64?
    /// When the last byte was written, by this device's clock.
    public let changed: Date
    /// Whether a download in any process is writing to the file.
    public let isActive: Bool
    /// Whether the next start resumes from the received bytes. Otherwise it starts over.
    public let canContinue: Bool
    let directory: String

    /// Deletes the partial file and its record. Throws `TransferError.Code.busy` while a download uses them.
    public func remove() throws(TransferError) {
        let sidecar = PartialFile.sidecar(id, in: directory)
        let lock = try PartialFile.locked(sidecar, for: name.map { "\(directory)/\($0)" } ?? directory)
        SystemFile.remove(PartialFile.data(id, in: directory))
        SystemFile.remove(sidecar)
        // Keep the lock until here, so no download opens the files.
        lock.unlock()
    }
}

extension ResumableDownloadFilter {
    /// Returns the unfinished downloads in a directory, in no particular order. Blocks while it reads the directory,
    /// and a few KB for each download. Throws `TransferError` if the directory can't be read.
    public static func partialDownloads(in directory: URL) throws(TransferError) -> [PartialDownload] {
        var ids: Set<String> = []
        try TransferError.converting { () throws(SystemFile.Failure) in
            try SystemFile.list(directory.path) { name in
                if let id = PartialFile.id(of: name) { ids.insert(id) }
                return true
            }
        }
        return ids.map { PartialFile.inspect($0, in: directory.path) }
    }

    /// Deletes inactive unfinished downloads that have received no bytes for the given time. Defaults to zero, which
    /// deletes all of them. Returns their number. Throws `TransferError` if the directory can't be read.
    @discardableResult
    public static func removePartialDownloads(in directory: URL, olderThan age: Duration = .zero) throws(TransferError)
        -> Int
    {
        var count = 0
        let limit = Date().addingTimeInterval(-(age / .seconds(1)))
        for partial in try partialDownloads(in: directory) where !partial.isActive && partial.changed <= limit {
            if (try? partial.remove()) != nil { count += 1 }
        }
        return count
    }
}

extension PartialFile {
    static func id(of name: String) -> String? {
        for ending in [sidecarEnding, dataEnding] where name.hasPrefix(prefix) && name.hasSuffix(ending) {
            let id = name.dropFirst(prefix.count).dropLast(ending.count)
            if id.utf8.count == 24, id.utf8.allSatisfy(ASCII.isHexDigit) { return String(id) }
        }
        return nil
    }

    /// Doesn't delay a running download.
    static func inspect(_ id: String, in directory: String) -> PartialDownload {
        let file = try? SystemFile(sidecar(id, in: directory), [.read, .refusesLinks])
        let status = try? FileStatus(at: data(id, in: directory), followingLinks: false)
        var (isActive, bytes) = (false, [UInt8]())
        if let file {
            isActive = !file.tryLock(shared: true)
            bytes = content(of: file)
        }
        let stored = SidecarFormat.read(bytes, session: session)
        let isSound = stored.map { $0.plan.extent <= status?.size ?? 0 } ?? false
        return PartialDownload(
            id: id, url: stored?.record.url ?? "", name: stored?.record.name,
            received: isSound ? stored?.plan.received ?? 0 : 0, total: stored?.record.representation?.total,
            changed: Date(timeIntervalSince1970: Double(status?.modified ?? 0) / 1e9), isActive: isActive,
            canContinue: isSound && stored?.record.representation?.validator != nil, directory: directory)
    }
}
