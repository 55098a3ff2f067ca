import ErrandSupport
import ErrandHTTPSyntax

public import ErrandEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What an unfinished download left in a directory. Sending the same request again continues it.
///
/// ```swift
/// for leftover in try ResumableDownloads.leftovers(in: folder) where !leftover.isActive {
///     print(leftover.name ?? leftover.url, leftover.received, leftover.total ?? 0)
///     try leftover.remove()
/// }
/// ```
public struct DownloadLeftover: Sendable, Identifiable {
    /// The same for the same request and destination.
    public let id: String
    /// Where it comes from, for people: the values of its query are masked. Empty if the sidecar is damaged.
    public let url: String
    /// What the file will be called; nil while the server has not said it.
    public let name: String?
    public let received: Int64
    public let total: Int64?
    /// When its last byte came.
    public let changed: Date
    /// Whether a download, here or in another process, is at work on it.
    public let isActive: Bool
    /// Whether another start goes on from here; otherwise it begins anew.
    public let canContinue: Bool
    let directory: String

    /// Deletes it. Throws ``DownloadError/Code/busy`` while it is active.
    public func remove() throws(DownloadError) {
        let sidecar = PartialFile.sidecar(id, in: directory)
        let lock = try PartialFile.locked(sidecar)
        unlink(PartialFile.data(id, in: directory))
        unlink(sidecar)
        close(lock)
    }
}

extension ResumableDownloads {
    /// What unfinished downloads left in a directory, in no order. Reads the directory and a few KB of each; blocks.
    /// Throws ``DownloadError`` if the directory cannot be read.
    public static func leftovers(in directory: URL) throws(DownloadError) -> [DownloadLeftover] {
        guard let listing = opendir(directory.path) else {
            throw DownloadError(system: errno, "the directory cannot be read")
        }
        defer { closedir(listing) }
        var ids: Set<String> = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let id = PartialFile.id(of: name) { ids.insert(id) }
        }
        return ids.map { PartialFile.leftover($0, in: directory.path) }
    }

    /// Deletes what unfinished downloads left in a directory, all of it or what has not been touched for so long; what
    /// is active stays. Returns how many that were.
    @discardableResult
    public static func clear(in directory: URL, olderThan age: Duration = .zero) throws(DownloadError) -> Int {
        var count = 0
        let limit = Date().addingTimeInterval(-Double(age.components.seconds))
        for leftover in try leftovers(in: directory) where !leftover.isActive && leftover.changed <= limit {
            if (try? leftover.remove()) != nil { count += 1 }
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

    /// What lies there, looked at without holding it up.
    static func leftover(_ id: String, in directory: String) -> DownloadLeftover {
        let descriptor = open(sidecar(id, in: directory), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        defer { if descriptor >= 0 { close(descriptor) } }
        var info = stat()
        let size = lstat(data(id, in: directory), &info) == 0 ? Int64(info.st_size) : 0
        let isActive = descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        let bytes = descriptor >= 0 ? FileDescriptor.readAll(descriptor, limit: 64 << 10) : []
        let found = SidecarFormat.read(bytes, session: session)
        let isSound = found.map { $0.plan.extent <= size } ?? false
        return DownloadLeftover(
            id: id, url: found?.record.url ?? "", name: found?.record.name,
            received: isSound ? found?.plan.received ?? 0 : 0, total: found?.record.representation?.total,
            changed: Date(timeIntervalSince1970: Double(SystemFile.modified(info)) / 1e9), isActive: isActive,
            canContinue: isSound && found?.record.representation?.validator != nil, directory: directory)
    }
}
