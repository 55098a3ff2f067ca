public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
public import ErrandTransfers

/// The bytes of an unfinished download in a directory. Sending the same request again resumes it.
///
/// ```swift
/// for partial in try ResumableDownloads.partialDownloads(in: folder) where !partial.isActive {
///     print(partial.name ?? partial.url, partial.received, partial.total ?? 0)
///     try partial.remove()
/// }
/// ```
public struct PartialDownload: Sendable, Identifiable {
    /// The same for each start of one request with one destination.
    public let id: String
    /// The URL, for people: the values of its query are masked. Empty if the sidecar is damaged.
    public let url: String
    /// The name that the file will have; nil before the server has sent it.
    public let name: String?
    /// Bytes that can be resumed.
    public let received: Int64
    /// The length of the file in bytes; nil while unknown.
    public let total: Int64?
    /// The time at which the last byte was written.
    public let changed: Date
    /// Whether a download, in this process or another, is writing to it.
    public let isActive: Bool
    /// Whether another start resumes from the received bytes; otherwise it starts over.
    public let canContinue: Bool
    let directory: String

    /// Deletes the partial file and its sidecar. Throws `TransferError.Code.busy` while a download is writing to them.
    public func remove() throws(TransferError) {
        let sidecar = PartialFile.sidecar(id, in: directory)
        let lock = try PartialFile.locked(sidecar, for: name.map { "\(directory)/\($0)" } ?? directory)
        SystemFile.remove(PartialFile.data(id, in: directory))
        SystemFile.remove(sidecar)
        // Until here no download may open the files.
        lock.unlock()
    }
}

extension ResumableDownloads {
    /// The unfinished downloads in a directory, in no order. Reads the directory and a few KB of each; blocks. Throws
    /// `TransferError` if the directory cannot be read.
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

    /// Deletes the unfinished downloads in a directory: all of them, or those without a new byte for the given time. Active
    /// ones stay. Returns the number deleted. Throws `TransferError` if the directory cannot be read.
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
    /// The id in the name of a partial file or of a sidecar.
    static func id(of name: String) -> String? {
        for ending in [sidecarEnding, dataEnding] where name.hasPrefix(prefix) && name.hasSuffix(ending) {
            let id = name.dropFirst(prefix.count).dropLast(ending.count)
            if id.utf8.count == 24, id.utf8.allSatisfy(ASCII.isHexDigit) { return String(id) }
        }
        return nil
    }

    /// Reads the state of a partial file without delaying a download that holds it.
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
