import ErrandEssentials
import ErrandSupport
import Synchronization

/// The files of a disk store and the lock that processes share.
///
/// ```
/// errand-cache/        contains everything, so the directory can contain other things
///     usage            total bytes and number of files; its lock is the store's
///     secret           the key of the keyed hashes
///     entries/         one file for each entry, named after its key
///     partial/         files that are being written, named by a number
/// ```
///
/// Files with other names are neither counted nor removed.
final class DiskDirectory: Sendable {
    struct State: ~Copyable {
        var usage: DiskFile?
        /// The files to evict. The last element is evicted first.
        var candidates: [EvictionCandidate] = []
    }

    private let base: String
    let root: String
    static let name = "errand-cache"
    private let entries: String
    let limit: CacheLimit
    let state = Mutex(State())
    let isScanning = Atomic(false)
    private let lastUse = Atomic<Int64>(0)
    /// The recent uses by the first word of the digest. They are recorded in the files before the next eviction.
    private let recentUses = Mutex<[UInt64: (digest: [UInt8], used: Int64)]>([:])
    private let isPrepared = Atomic(false)

    init(root: String, limit: CacheLimit) {
        base = root.hasSuffix("/") ? String(root.dropLast()) : root
        self.root = base + "/" + Self.name
        entries = self.root + "/entries/"
        self.limit = limit
    }

    func path(of digest: [UInt8]) -> String { path(named: Hexadecimal.text(digest)) }

    func path(named name: String) -> String { entries + name }

    static var now: Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, -9e18), 9e18)) }

    /// How far recorded uses can be ahead of the clock, in nanoseconds. A use can get a time in the future, so two uses
    /// don't get the same time.
    static let clockSlack: Int64 = 1_000_000_000

    /// Returns the time of a use, in nanoseconds. Each result is later than all earlier results, unless the clock was
    /// set back.
    func nextUse() -> Int64 {
        let now = Self.now
        var last = lastUse.load(ordering: .relaxed)
        while true {
            let next = last > now + Self.clockSlack ? now : max(now, last + 1)
            let (done, current) = lastUse.compareExchange(expected: last, desired: next, ordering: .relaxed)
            if done { return next }
            last = current
        }
    }

    /// Records a use of a file. If the last recorded use is less than a minute old, records this use only before the
    /// next eviction.
    func use(_ digest: [UInt8], file: borrowing DiskFile, status: DiskFile.Status) {
        let now = nextUse()
        let isRecent = status.used <= now && status.used > now - Self.useInterval
        let word = digest.withSpan { $0.littleEndian(at: 0, as: UInt64.self) }
        let isRemembered =
            isRecent
            && recentUses.withLock { uses in
                guard uses.count < Self.maximumRecentUses || uses[word] != nil else { return false }
                uses[word] = (digest, now)
                return true
            }
        if !isRemembered { file.touch(now) }
    }

    private static let useInterval: Int64 = 60_000_000_000
    private static let maximumRecentUses = 1024

    func recordUses() {
        let uses = recentUses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        for (digest, used) in uses.values {
            guard let file = try? DiskFile(reading: path(of: digest)), let last = file.status?.used, last < used
            else { continue }
            file.touch(used)
        }
    }

    func makeTemporary() throws(DiskFile.Failure) -> String {
        if !isPrepared.exchange(true, ordering: .acquiringAndReleasing) { try prepare() }
        let path = "\(root)/partial/\(UInt64.random(in: Self.partialNumbers))"
        do { _ = try DiskFile(creating: path) } catch {
            guard error.isMissing else { throw error }
            try prepare()
            _ = try DiskFile(creating: path)
        }
        return path
    }

    private static let partialNumbers: ClosedRange<UInt64> = 1_000_000_000_000_000_000...9_000_000_000_000_000_000

    /// Creates the directories and removes the partial files of killed writers.
    func prepare() throws(DiskFile.Failure) {
        try DiskFile.makeDirectory(base, replacingFile: true)
        try DiskFile.makeDirectory(root)
        try DiskFile.makeDirectory(root + "/entries")
        try DiskFile.makeDirectory(root + "/partial")
        excludeFromBackup(root)
        try removeAbandonedFiles()
    }

    func removeAbandonedFiles() throws(DiskFile.Failure) {
        let (old, new) = (Self.now - 3_600_000_000_000, Self.now + 3_600_000_000_000)
        try DiskFile.list(root + "/partial") { name in
            guard name.utf8.count == 19, let number = UInt64(name), Self.partialNumbers.contains(number) else { return }
            let path = "\(root)/partial/\(name)"
            if let status = DiskFile.Status(path: path), status.isRegular, status.used < old || status.used > new {
                DiskFile.remove(path)
            }
        }
    }

    /// Moves a complete file to its place. Returns whether the caller should call ``refreshCandidates()``, or nil if
    /// the condition is false. The condition is evaluated with the store's lock held.
    func install(
        _ temporary: String, _ digest: [UInt8], where condition: () -> Bool
    ) throws(DiskFile.Failure) -> Bool? {
        guard let size = DiskFile.Status(path: temporary)?.size else { throw .missing }
        let name = Hexadecimal.text(digest)
        let target = path(named: name)
        return try withLockedUsage { state, usage throws(DiskFile.Failure) -> Bool? in
            guard condition() else { return nil }
            let old = DiskFile.Status(path: target)
            let (bytes, files): (Int64, Int64) = (size - (old?.size ?? 0), old == nil ? 1 : 0)
            try makeRoom(bytes: bytes, files: files, keeping: name, &usage, &state.candidates)
            try DiskFile.rename(temporary, to: target)
            usage.bytes += bytes
            usage.files += files
            let isNearLimit =
                usage.bytes > limit.bytes - limit.bytes / 16
                || usage.files > Int64(clamping: limit.entries) - Int64(clamping: limit.entries / 16)
            // A small directory can be scanned when an eviction is necessary.
            return isNearLimit && usage.files > Int64(Self.sampleSize) && state.candidates.count < 16
        }
    }

    func finishInstalling() throws(DiskFile.Failure) { try withLockedUsage { _, _ throws(DiskFile.Failure) in } }

    /// Removes a file.
    ///
    /// - Parameter isArriving: Whether a write may be installing the entry right now. If so, waits for the write.
    func remove(_ digest: [UInt8], evenIfAbsent isArriving: Bool = false) throws(DiskFile.Failure) {
        let path = path(of: digest)
        if !isArriving, DiskFile.Status(path: path) == nil { return }
        do {
            try withLockedUsage { _, usage throws(DiskFile.Failure) in
                guard let status = DiskFile.Status(path: path) else { return }
                guard DiskFile.remove(path) else { throw DiskFile.Failure.system(errno) }
                usage.bytes -= status.size
                usage.files -= 1
            }
        } catch {
            // Without the usage file, the next process counts the files.
            guard DiskFile.remove(path) || DiskFile.Status(path: path) == nil else { throw error }
            DiskFile.remove(root + "/usage")
        }
    }

    func digests() throws(DiskFile.Failure) -> [[UInt8]] {
        var result: [[UInt8]] = []
        do {
            try DiskFile.list(root + "/entries") { name in
                if let digest = Self.digest(name) { result.append(digest) }
            }
        } catch { if !error.isMissing { throw error } }
        return result
    }

    static func digest(_ name: String) -> [UInt8]? {
        name.utf8.count == 64 ? Hexadecimal.bytes(name) : nil
    }

    func secret() throws(DiskFile.Failure) -> Data {
        let path = root + "/secret"
        if let file = try? DiskFile(reading: path), file.status?.size == 32, let data = try? file.read(32, at: 0) {
            return data
        }
        try prepare()
        let temporary = try makeTemporary()
        defer { DiskFile.remove(temporary) }
        try DiskFile(opening: temporary).write(Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) }), at: 0)
        // The first process to link its file wins.
        let status = DiskFile.link(temporary, to: path) ? nil : DiskFile.Status(path: path)
        if let status, status.size != 32 || !status.isRegular {
            try DiskFile.rename(temporary, to: path)
        }
        guard let data = try DiskFile(reading: path).read(32, at: 0) else { throw .damaged }
        return data
    }
}

/// A file that may be evicted. It's evicted only if it hasn't been used since the scan.
struct EvictionCandidate: Sendable {
    let name: String
    let status: DiskFile.Status
}

/// Evicts the least recently used files.
///
/// One scan serves many evictions. It runs in the background when the limit is near. A file is evicted only if its time
/// of last use hasn't changed since the scan. A write that needs space earlier evicts the oldest files of a sample.
extension DiskDirectory {
    static let sampleSize = 1024

    var candidateCount: Int { state.withLock { $0.candidates.count } }

    /// Finds new candidates. Doesn't take the lock, because each file is checked again before its eviction.
    func refreshCandidates() {
        if isScanning.exchange(true, ordering: .acquiringAndReleasing) { return }
        recordUses()
        let found = scan(atMost: .max).candidates
        state.withLock { $0.candidates = found }
        isScanning.store(false, ordering: .releasing)
    }

    func retryingWhenFull<Value>(
        for bytes: Int64, _ body: () throws(DiskFile.Failure) -> Value
    ) throws(DiskFile.Failure) -> Value {
        var wanted = max(bytes, 64 << 10)
        for _ in 0..<32 {
            do { return try body() } catch {
                guard error.isDiskFull, evict(bytes: wanted) else { throw error }
                // Other processes may have used the freed space.
                wanted *= 2
            }
        }
        return try body()
    }

    func makeRoom(
        bytes: Int64, files: Int64, keeping name: String, _ usage: inout DiskUsage,
        _ candidates: inout [EvictionCandidate]
    ) throws(DiskFile.Failure) {
        var scans = 0
        if usage.bytes > limit.bytes - bytes || usage.files > Int64(clamping: limit.entries) - files { recordUses() }
        while usage.bytes > limit.bytes - bytes || usage.files > Int64(clamping: limit.entries) - files {
            if let candidate = candidates.popLast() {
                let path = path(named: candidate.name)
                guard candidate.name != name, DiskFile.Status(path: path) == candidate.status, DiskFile.remove(path)
                else { continue }
                usage.bytes -= candidate.status.size
                usage.files -= 1
            } else {
                if scans == 0, usage.files > 2 * Int64(Self.sampleSize) {
                    candidates = scan(atMost: Self.sampleSize).candidates
                } else {
                    recount(&usage, &candidates)
                }
                scans += 1
                let isFull = usage.bytes > limit.bytes - bytes || usage.files > Int64(clamping: limit.entries) - files
                // Other processes may keep using the candidates.
                if isFull && (candidates.isEmpty || scans > 64) { throw .limitReached }
            }
        }
    }

    /// Evicts files because the disk is full. Returns whether it evicted any file.
    private func evict(bytes: Int64) -> Bool {
        do {
            return try withLockedUsage { state, usage throws(DiskFile.Failure) in
                evict(bytes, from: &usage, among: &state.candidates)
            }
        } catch {
            // Without the usage file, the next process counts the files.
            var (usage, candidates) = (DiskUsage(), [EvictionCandidate]())
            let hasEvicted = evict(bytes, from: &usage, among: &candidates)
            DiskFile.remove(root + "/usage")
            return hasEvicted
        }
    }

    private func evict(_ bytes: Int64, from usage: inout DiskUsage, among candidates: inout [EvictionCandidate]) -> Bool
    {
        recordUses()
        var (freed, scans) = (Int64(0), 0)
        while freed < bytes {
            if candidates.isEmpty {
                scans += 1
                if scans > 64 { break }
                candidates = scan(atMost: .max).candidates
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

    func recount(_ usage: inout DiskUsage, _ candidates: inout [EvictionCandidate]) {
        (usage, candidates) = scan(atMost: .max)
        try? removeAbandonedFiles()
    }

    /// Scans the directory. The candidates are the least recently used eighth of the files.
    private func scan(atMost limit: Int) -> (usage: DiskUsage, candidates: [EvictionCandidate]) {
        var usage = DiskUsage()
        var all: [EvictionCandidate] = []
        try? DiskFile.list(root + "/entries", atMost: limit) { name in
            guard Self.digest(name) != nil, let status = DiskFile.Status(path: path(named: name)), status.isRegular
            else { return }
            usage.bytes += status.size
            usage.files += 1
            all.append(EvictionCandidate(name: name, status: status))
        }
        // Timestamps in the future count as the oldest, because they're from before the clock was set back.
        let end = Self.now + Self.clockSlack
        all.sort { a, b in
            (a.status.used > end) == (b.status.used > end) ? a.status.used > b.status.used : b.status.used > end
        }
        return (usage, Array(all.suffix(max(64, all.count / 8))))
    }
}
