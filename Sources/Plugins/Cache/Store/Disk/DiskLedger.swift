import ErrandSupport
import Synchronization

import ErrandEssentials

/// Which files a store has, how much they are, and which goes next. Knows nothing of what is in them.
///
/// ```
/// usage        bytes and files in all; its lock is the store's
/// secret       the key of the keyed hashes
/// entries/     a file for each entry
/// partial/     what is being written
/// ```
///
/// A process looks for what goes next once for many removals: it remembers the files that were used least recently, with
/// the time of their last use, and takes one only if that time still stands. Beside the work, once the limit is near; a
/// write that comes before takes the oldest of a sample.
final class DiskLedger: Sendable {
    private struct Candidate: Sendable {
        let name: String
        let status: DiskFile.Status
    }

    private struct State: ~Copyable {
        var usage: DiskFile?
        /// The next to go is the last.
        var candidates: [Candidate] = []
    }

    private let root: String
    private let limit: CacheLimit
    private let state = Mutex(State())
    private let lastUse = Atomic<Int64>(0)
    private let isPrepared = Atomic(false)
    private let isScouting = Atomic(false)

    init(root: String, limit: CacheLimit) {
        self.root = root.hasSuffix("/") ? String(root.dropLast()) : root
        self.limit = limit
    }

    func path(of digest: [UInt8]) -> String { path(named: Hexadecimal.text(digest)) }

    private func path(named name: String) -> String { "\(root)/entries/\(name)" }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }

    /// Now, and later than any time this gave before, so that two uses are never the same; once the clock was set back it
    /// begins anew.
    func nextUse() -> Int64 {
        let now = Self.now
        var last = lastUse.load(ordering: .relaxed)
        while true {
            let next = last > now + Self.slack ? now : max(now, last + 1)
            let (done, current) = lastUse.compareExchange(expected: last, desired: next, ordering: .relaxed)
            if done { return next }
            last = current
        }
    }

    /// The path of a new file to write into.
    func makeTemporary() throws(DiskFile.Failure) -> String {
        if !isPrepared.exchange(true, ordering: .acquiringAndReleasing) { try prepare() }
        let path = "\(root)/partial/\(UInt64.random(in: 0 ... .max))"
        do { _ = try DiskFile(creating: path) } catch {
            guard error.isMissing else { throw error }
            try prepare()
            _ = try DiskFile(creating: path)
        }
        return path
    }

    /// Makes the directories, and removes what writers left that were killed.
    private func prepare() throws(DiskFile.Failure) {
        try DiskFile.makeDirectory(root)
        try DiskFile.makeDirectory(root + "/entries")
        try DiskFile.makeDirectory(root + "/partial")
        excludeFromBackup(root)
        try sweep()
    }

    /// No writer goes for an hour without a byte.
    private func sweep() throws(DiskFile.Failure) {
        let (old, new) = (Self.now - 3_600_000_000_000, Self.now + 3_600_000_000_000)
        try DiskFile.list(root + "/partial") { name in
            let path = "\(root)/partial/\(name)"
            if let status = DiskFile.Status(path: path), status.used < old || status.used > new {
                DiskFile.remove(path)
            }
        }
    }

    /// Puts a written file in its place, once there is room for it. Returns whether somebody should ``scout()``.
    func put(_ temporary: String, _ digest: [UInt8]) throws(DiskFile.Failure) -> Bool {
        guard let size = DiskFile.Status(path: temporary)?.size else { throw .missing }
        let name = Hexadecimal.text(digest)
        let target = path(named: name)
        return try locked { state, usage throws(DiskFile.Failure) in
            let old = DiskFile.Status(path: target)
            let (bytes, files): (Int64, Int64) = (size - (old?.size ?? 0), old == nil ? 1 : 0)
            try makeRoom(bytes: bytes, files: files, keeping: name, &usage, &state.candidates)
            try DiskFile.rename(temporary, to: target)
            usage.bytes += bytes
            usage.files += files
            // A small directory is read in no time.
            let isNear =
                usage.bytes > limit.bytes - limit.bytes / 16
                || usage.files > Int64(clamping: limit.entries) - Int64(clamping: limit.entries / 16)
            return isNear && usage.files > Int64(Self.sample) && state.candidates.count < 16
        }
    }

    /// Looks for what goes next without holding up anybody: what it finds is looked at again before it goes.
    func scout() {
        if isScouting.exchange(true, ordering: .acquiringAndReleasing) { return }
        let found = look(atMost: .max).candidates
        state.withLock { $0.candidates = found }
        isScouting.store(false, ordering: .releasing)
    }

    /// How many files are known that may go.
    var candidateCount: Int { state.withLock { $0.candidates.count } }

    /// Removes the file of an entry, if there is one.
    func remove(_ digest: [UInt8]) {
        let name = Hexadecimal.text(digest)
        guard DiskFile.Status(path: path(named: name)) != nil else { return }
        try? locked { _, usage throws(DiskFile.Failure) in
            guard let status = DiskFile.Status(path: path(named: name)), DiskFile.remove(path(named: name)) else {
                return
            }
            usage.bytes -= status.size
            usage.files -= 1
        }
    }

    /// The digests of all entries.
    func digests() throws(DiskFile.Failure) -> [[UInt8]] {
        var result: [[UInt8]] = []
        do {
            try DiskFile.list(root + "/entries") { name in
                if let digest = Self.digest(name) { result.append(digest) }
            }
        } catch { if !error.isMissing { throw error } }
        return result
    }

    private static func digest(_ name: String) -> [UInt8]? {
        name.utf8.count == 64 ? Hexadecimal.bytes(name) : nil
    }

    func usage() throws(DiskFile.Failure) -> CacheLimit {
        try locked { _, usage throws(DiskFile.Failure) in CacheLimit(bytes: usage.bytes, entries: Int(usage.files)) }
    }

    func secret() throws(DiskFile.Failure) -> Data {
        let path = root + "/secret"
        if let data = try? DiskFile(reading: path).read(32, at: 0) { return data }
        try prepare()
        let temporary = try makeTemporary()
        defer { DiskFile.remove(temporary) }
        try DiskFile(opening: temporary).write(Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) }), at: 0)
        // The first process wins; a file that is too short gives way.
        if !DiskFile.link(temporary, to: path), DiskFile.Status(path: path)?.size != 32 {
            try DiskFile.rename(temporary, to: path)
        }
        guard let data = try DiskFile(reading: path).read(32, at: 0) else { throw .damaged }
        return data
    }

    // MARK: The account

    /// Holds the store's lock around a change of files and of the account. The account is marked as open meanwhile, so
    /// that after a crash the next one counts anew.
    private func locked<Value: Sendable>(
        _ body: (inout State, inout DiskUsage) throws(DiskFile.Failure) -> Value
    ) throws(DiskFile.Failure) -> Value {
        let result: Result<Value, DiskFile.Failure> = state.withLock { state in
            Result { () throws(DiskFile.Failure) in
                try open(&state)
                var usage: DiskUsage
                if let known = DiskUsage(reading: state.usage) {
                    usage = known
                } else {
                    usage = DiskUsage()
                    count(&usage, &state.candidates)
                }
                try usage.write(to: state.usage, isOpen: true)
                defer {
                    try? usage.write(to: state.usage, isOpen: false)
                    state.usage?.unlock()
                }
                return try body(&state, &usage)
            }
        }
        return try result.get()
    }

    /// Opens and locks the account of the directory that is there now.
    private func open(_ state: inout State) throws(DiskFile.Failure) {
        let path = root + "/usage"
        for attempt in 0... {
            if state.usage == nil {
                do { state.usage = try DiskFile(opening: path) } catch {
                    guard error.isMissing, attempt == 0 else { throw error }
                    try prepare()
                    continue
                }
            }
            try state.usage?.lock()
            if state.usage?.isNamed(path) == true { return }
            state.usage = nil
            if attempt > 3 { throw .damaged }
        }
    }

    /// Removes the least recently used files until there is room; the one that is about to be replaced stays.
    private func makeRoom(
        bytes: Int64, files: Int64, keeping name: String, _ usage: inout DiskUsage, _ candidates: inout [Candidate]
    ) throws(DiskFile.Failure) {
        var counts = 0
        while usage.bytes > limit.bytes - bytes || usage.files > Int64(clamping: limit.entries) - files {
            if let candidate = candidates.popLast() {
                let path = path(named: candidate.name)
                guard candidate.name != name, DiskFile.Status(path: path) == candidate.status, DiskFile.remove(path)
                else { continue }
                usage.bytes -= candidate.status.size
                usage.files -= 1
            } else {
                // The first time a glance will do, unless it finds nothing that goes.
                if counts == 0, usage.files > 2 * Int64(Self.sample) {
                    candidates = look(atMost: Self.sample).candidates
                } else {
                    count(&usage, &candidates)
                }
                counts += 1
                let isFull = usage.bytes > limit.bytes - bytes || usage.files > Int64(clamping: limit.entries) - files
                // Others may use what this would remove, but not for ever.
                if isFull && (candidates.isEmpty || counts > 64) { throw .full }
            }
        }
    }

    /// Removes so many bytes, the least recently used first, because the disk is full. Returns whether anything went.
    func shrink(by bytes: Int64) -> Bool {
        do {
            return try locked { state, usage throws(DiskFile.Failure) in free(bytes, &usage, &state.candidates) }
        } catch {
            // There is no room for the account itself: without it the next one counts anew.
            var (usage, candidates) = (DiskUsage(), [Candidate]())
            let isFreed = free(bytes, &usage, &candidates)
            DiskFile.remove(root + "/usage")
            return isFreed
        }
    }

    private func free(_ bytes: Int64, _ usage: inout DiskUsage, _ candidates: inout [Candidate]) -> Bool {
        var (freed, looks) = (Int64(0), 0)
        while freed < bytes {
            if candidates.isEmpty {
                looks += 1
                if looks > 64 { break }
                candidates = look(atMost: .max).candidates
            }
            guard let candidate = candidates.popLast() else { break }
            let path = path(named: candidate.name)
            guard DiskFile.Status(path: path) == candidate.status, DiskFile.remove(path) else { continue }
            freed += candidate.status.size
            usage.bytes -= candidate.status.size
            usage.files -= 1
        }
        return freed > 0
    }

    /// Reads the directory: what there is in all, and what goes next.
    private func count(_ usage: inout DiskUsage, _ candidates: inout [Candidate]) {
        (usage, candidates) = look(atMost: .max)
        try? sweep()
    }

    /// A second: how far uses may be ahead of the clock, because two are never the same.
    private static let slack: Int64 = 1_000_000_000

    /// So many files are looked at when there is no time for all.
    private static let sample = 1024

    /// What is in the directory, or in the first part of it, and the eighth that goes next.
    private func look(atMost limit: Int) -> (usage: DiskUsage, candidates: [Candidate]) {
        var usage = DiskUsage()
        var all: [Candidate] = []
        try? DiskFile.list(root + "/entries", atMost: limit) { name in
            let path = path(named: name)
            guard let status = DiskFile.Status(path: path) else { return }
            guard Self.digest(name) != nil, status.isRegular else {
                DiskFile.remove(path)
                return
            }
            usage.bytes += status.size
            usage.files += 1
            all.append(Candidate(name: name, status: status))
        }
        // A use in the future was before the clock was set back: it counts as older than any other.
        let end = Self.now + Self.slack
        all.sort { a, b in
            (a.status.used > end) == (b.status.used > end) ? a.status.used > b.status.used : b.status.used > end
        }
        return (usage, Array(all.suffix(max(64, all.count / 8))))
    }
}
