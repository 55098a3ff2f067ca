public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
public import ErrandTransfers

/// An unfinished download whose received bytes are on the disk. Send the same request again to resume it.
///
/// ```swift
/// for partial in try ResumableDownloadFilter.partialDownloads(in: folder) where !partial.isActive {
///     print(partial.name ?? partial.url, partial.received, partial.total ?? 0)
///     try partial.remove()
/// }
/// ```
public struct PartialDownload: Sendable, Identifiable {
    /// An ID for the request and destination. Each start of a download has the same ID.
    public let id: String
    /// The URL for display, with its query values masked. Empty if the sidecar file is damaged.
    public let url: String
    /// The file's future name, or `nil` if the server hasn't sent it yet.
    public let name: String?
    /// How many bytes were received and don't need to be requested again.
    public let received: Int64
    /// The length of the file in bytes, or `nil` if unknown.
    public let total: Int64?
    /// When the last byte was written, by this device's clock.
    public let changed: Date
    /// Whether a download is writing to the file now, in this or another process.
    public let isActive: Bool
    /// Whether the next start resumes from the received bytes. Otherwise it starts over.
    public let canContinue: Bool
    let directory: String

    /// Deletes the partial file and its sidecar file. Throws `TransferError.Code.busy` while a download uses them.
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
    /// Returns the unfinished downloads in a directory, in no particular order. Blocks: reads the directory, and a few
    /// KB for each download. Throws `TransferError` if the directory can't be read.
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

    /// Deletes unfinished downloads in a directory that have received no bytes for the given time. By default, deletes
    /// all of them. Active downloads aren't deleted. Returns the number of deleted downloads. Throws `TransferError` if
    /// the directory can't be read.
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

    /// Reads the state of a partial file without delaying a running download.
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
