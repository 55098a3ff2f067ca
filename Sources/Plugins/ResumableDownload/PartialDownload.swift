public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
public import ErrandTransfers

/// An unfinished download whose received bytes are on disk. Send the same request again to resume it.
///
/// ```swift
/// for partial in try ResumableDownloadFilter.partialDownloads(in: folder) where !partial.isActive {
///     print(partial.name ?? partial.url, partial.received, partial.total ?? 0)
///     try partial.remove()
/// }
/// ```
public struct PartialDownload: Sendable, Identifiable {
    /// An ID for the request and its destination. Each start of the same download has the same ID.
    public let id: String
    /// The request's URL for display. Its query values are masked. It's empty if the record is damaged.
    public let url: String
    /// The name that the complete file will have. It's nil until the server has sent the name.
    public let name: String?
    /// The number of received bytes that don't have to be requested again.
    public let received: Int64
    /// The file's length in bytes, if known.
    public let total: Int64?
    /// The time when the last byte was written, according to this device's clock.
    public let changed: Date
    /// Whether a download in any process is writing to the file.
    public let isActive: Bool
    /// Whether the next start continues after the received bytes. If false, the next start downloads the whole file.
    public let canContinue: Bool
    let directory: String

    /// Deletes the partial file and its record. If a download is using them, throws `TransferError.Code.busy`.
    public func remove() throws(TransferError) {
        let sidecar = PartialFile.sidecar(id, in: directory)
        let lock = try PartialFile.locked(sidecar, for: name.map { "\(directory)/\($0)" } ?? directory)
        SystemFile.remove(PartialFile.data(id, in: directory))
        SystemFile.remove(sidecar)
        // The lock is kept until here, so a download can't open the files meanwhile.
        lock.unlock()
    }
}

extension ResumableDownloadFilter {
    /// Returns the unfinished downloads in a directory, in no particular order. This method blocks while it reads the
    /// directory and a few KB per download. Throws `TransferError` if the directory can't be read.
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

    /// Deletes the unfinished downloads that aren't active and haven't received bytes for the given time. By default,
    /// deletes all downloads that aren't active. Returns the number of deleted downloads. Throws `TransferError` if the
    /// directory can't be read.
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

    /// Reads an unfinished download's record. This doesn't delay a running download.
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
