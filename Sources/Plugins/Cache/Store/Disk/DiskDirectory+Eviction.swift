import ErrandEssentials
import Synchronization

/// A file that may be evicted, if it has not been used since it was scanned.
struct EvictionCandidate: Sendable {
    let name: String
    let status: DiskFile.Status
}

/// Eviction of the least recently used files.
///
/// A process scans the directory once for many evictions: it remembers the least recently used files with the time of
/// their last use, and evicts one only if that time is unchanged. The scan runs in the background once the limit is
/// near; a write that comes earlier evicts the oldest files of a sample.
extension DiskDirectory {
    /// The number of files that are scanned where a full scan would take too long.
    static let sampleSize = 1024

    /// The number of files that are known to be next for eviction.
    var candidateCount: Int { state.withLock { $0.candidates.count } }

    /// Scans for the files that are evicted next, without holding the lock: each is checked again before it is evicted.
    func refreshCandidates() {
        if isScanning.exchange(true, ordering: .acquiringAndReleasing) { return }
        recordUses()
        let found = scan(atMost: .max).candidates
        state.withLock { $0.candidates = found }
        isScanning.store(false, ordering: .releasing)
    }

    /// Runs an operation that needs disk space. While the disk is full it evicts the least recently used files and
    /// tries again; throws the operation's last error.
    func retryingWhenFull<Value>(
        for bytes: Int64, _ body: () throws(DiskFile.Failure) -> Value
    ) throws(DiskFile.Failure) -> Value {
        var wanted = max(bytes, 64 << 10)
        for _ in 0..<32 {
            do { return try body() } catch {
                guard error.isFull, evict(bytes: wanted) else { throw error }
                // Other processes may use the space that this frees.
                wanted *= 2
            }
        }
        return try body()
    }

    /// Evicts the least recently used files until the limit leaves room; the file that is about to be replaced stays.
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
                // A sample is enough at first, unless it contains nothing to evict.
                if scans == 0, usage.files > 2 * Int64(Self.sampleSize) {
                    candidates = scan(atMost: Self.sampleSize).candidates
                } else {
                    recount(&usage, &candidates)
                }
                scans += 1
                let isFull = usage.bytes > limit.bytes - bytes || usage.files > Int64(clamping: limit.entries) - files
                // Other processes may use the candidates meanwhile, but the search is bounded.
                if isFull && (candidates.isEmpty || scans > 64) { throw .full }
            }
        }
    }

    /// Evicts the least recently used files of this total size, because the disk is full. Returns whether it evicted
    /// any.
    private func evict(bytes: Int64) -> Bool {
        do {
            return try withLockedUsage { state, usage throws(DiskFile.Failure) in
                evict(bytes, &usage, &state.candidates)
            }
        } catch {
            // The usage file itself cannot be written: without it the next process counts the files again.
            var (usage, candidates) = (DiskUsage(), [EvictionCandidate]())
            let hasEvicted = evict(bytes, &usage, &candidates)
            DiskFile.remove(root + "/usage")
            return hasEvicted
        }
    }

    private func evict(_ bytes: Int64, _ usage: inout DiskUsage, _ candidates: inout [EvictionCandidate]) -> Bool {
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

    /// Counts the files of the directory, and finds the next candidates.
    func recount(_ usage: inout DiskUsage, _ candidates: inout [EvictionCandidate]) {
        (usage, candidates) = scan(atMost: .max)
        try? removeAbandonedFiles()
    }

    /// The usage of the directory, or of the first files in it, and the least recently used eighth of these files.
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
        // A use in the future dates from before the clock was set back: it counts as older than any other.
        let end = Self.now + Self.clockSlack
        all.sort { a, b in
            (a.status.used > end) == (b.status.used > end) ? a.status.used > b.status.used : b.status.used > end
        }
        return (usage, Array(all.suffix(max(64, all.count / 8))))
    }
}
