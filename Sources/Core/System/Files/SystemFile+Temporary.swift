import ErrandEssentials
import Synchronization

// Temporary files are next to their destinations, so they can be moved there in one step. Their names begin with a dot
// and have a fixed pattern. A process that is killed leaves its temporary files; the next process that writes to the
// same directory removes them.
extension SystemFile {
    /// Creates an empty temporary file next to a destination. The first time in a directory, removes the temporary
    /// files that killed processes have left there.
    ///
    /// ```swift
    /// let file = try SystemFile.temporary(beside: path, permissions: 0o600)
    /// try file.write(data)
    /// try file.move(to: path)
    /// ```
    ///
    /// Other processes recognize by the file's lock that it's in use, so keep the file open until you move it. If
    /// writing fails, remove the file.
    package static func temporary(
        beside destination: String, _ access: Access = .write, permissions: mode_t
    ) throws(Failure) -> SystemFile {
        let directory = directory(of: destination)
        // Listing a directory costs more than writing a small file, so this happens once for each directory.
        if searched.withLock({ $0.insert(directory) }) { removeAbandonedFiles(beside: destination) }
        let name = temporaryName(getpid(), .random(in: 0 ... .max))
        let file = try SystemFile(
            directory + name, [access, .create, .exclusive], permissions: permissions)
        if locksTemporaryFiles { _ = file.takeLock() }
        return file
    }

    private static let searched = Mutex(SearchedDirectories())

    /// The directories in which this process has looked for abandoned files. The number is limited, so it may look in a
    /// directory again.
    private struct SearchedDirectories {
        private var paths: Set<String> = []

        mutating func insert(_ path: String) -> Bool {
            if paths.count >= 1000 { paths = [] }
            return paths.insert(path).inserted
        }
    }

    /// Moves a temporary file to its destination, and releases its lock.
    package func move(to destination: String) throws(Failure) {
        try Self.rename(path, to: destination)
        unlock()
    }

    /// Removes the temporary files next to a destination that no process uses and that weren't changed for an hour.
    /// Looks at up to 1,000 names, and ignores failures.
    package static func removeAbandonedFiles(beside destination: String) {
        let directory = directory(of: destination)
        var (count, names) = (0, [String]())
        try? list(directory.isEmpty ? "." : directory) { name in
            count += 1
            if isTemporary(name) { names.append(name) }
            return count < 1000 && names.count < 100
        }
        for name in names { removeIfAbandoned(directory + name) }
    }

    private static func removeIfAbandoned(_ path: String) {
        guard let status = try? FileStatus(at: path, followingLinks: false), status.isOld,
            let file = try? SystemFile(path, [.read, .write, .refusesLinks]), file.takeLock(),
            file.status(ifAt: path)?.isOld == true
        else { return }
        remove(path)
    }

    /// Takes the file's lock. Unlike ``tryLock(shared:)``, this method returns false if the file system doesn't support
    /// locks.
    private func takeLock() -> Bool { uninterrupted { flock(descriptor, LOCK_EX | LOCK_NB) } == 0 }

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    /// The system terminates an app that holds a lock in a shared container while it's suspended.
    private static let locksTemporaryFiles = false
    #else
    private static let locksTemporaryFiles = true
    #endif

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func temporaryName(_ process: Int32, _ number: UInt64) -> String {
        ".errand-\(process)-\(number).partial"
    }

    /// Returns whether a name is exactly one that ``temporaryName(_:_:)`` returns.
    private static func isTemporary(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasSuffix(".partial"), let process = Int32(parts[1]),
            let number = UInt64(parts[2].dropLast(".partial".count))
        else { return false }
        return name == temporaryName(process, number)
    }
}

extension FileStatus {
    /// Whether the file is a regular file that wasn't changed in the last hour. A time in the future, after the clock
    /// was set back, counts as recent.
    fileprivate var isOld: Bool {
        let now = Date().timeIntervalSince1970
        return kind == .regular && Double(modified) / 1e9 < now - 3600
    }
}
