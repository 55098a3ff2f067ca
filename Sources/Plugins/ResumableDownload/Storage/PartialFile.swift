import ErrandSupport
import Synchronization

import ErrandEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that is on its way, with the sidecar that says what of it is here. Held by one download at a time: the sidecar
/// is locked, against other processes too.
///
/// Bytes are written first and counted afterwards, so a count is never more than what is there. A kill at any moment loses
/// what was not counted yet: a chunk for each part. A crash of the machine loses what was not flushed.
final class PartialFile: Sendable {
    let path: String
    private let sidecarPath: String
    private let sidecar: Int32
    private let file: Int32
    private let state: Mutex<State>
    static var session: String { SystemSession.identifier }

    private struct State {
        var record: PartialRecord
        var plan: RangePlan
        var sequence: UInt64
        /// Where the writes end that are on their way, by the start of their part.
        var writing: [Int64: Int64] = [:]
        var isRemoved = false
    }

    /// Opens what is left of an earlier run, or begins anew. Throws `busy` while another download holds it. Blocks.
    init(_ destination: Destination, request: String, url: String) throws(DownloadError) {
        let key = destination.key(request: request)
        path = Self.data(key, in: destination.directory)
        sidecarPath = Self.sidecar(key, in: destination.directory)
        sidecar = try Self.locked(sidecarPath)
        var info = stat()
        do { file = try Self.opened(path, &info) } catch {
            // Nothing of ours is in it.
            unlink(sidecarPath)
            close(sidecar)
            throw error
        }
        let found = SidecarFormat.read(FileDescriptor.readAll(sidecar, limit: 64 << 10), session: Self.session)
        if let found, found.record.request == request, found.plan.extent <= Int64(info.st_size) {
            var state = State(record: found.record, plan: found.plan, sequence: found.sequence)
            let isOfThisSession = state.record.session == Self.session
            (state.record.session, state.record.url) = (Self.session, url)
            self.state = Mutex(state)
            // What nobody counted is not known to be right.
            try cut(to: found.plan.extent)
            if !isOfThisSession { try change { _, _ in } }
        } else {
            let record = PartialRecord(
                request: request, url: url, name: destination.name, session: Self.session, plan: 0,
                flushed: RangePlan(total: nil))
            state = Mutex(State(record: record, plan: RangePlan(total: nil), sequence: found?.sequence ?? 0))
            try startOver(nil)
        }
    }

    deinit {
        close(file)
        close(sidecar)
    }

    var representation: Representation? { state.withLock { $0.record.representation } }
    var plan: RangePlan { state.withLock { $0.plan } }
    /// The name that the server gave.
    var suggestedName: String? { state.withLock { $0.record.name } }

    /// Forgets what is here, for a file of another version, or one that nothing is known of.
    func startOver(_ representation: Representation?) throws(DownloadError) {
        let hadBytes = state.withLock { $0.record.flushed.received > 0 }
        try change { record, plan in
            record.representation = representation
            plan = RangePlan(total: representation?.total)
        }
        // After a crash the old record must not speak of the new bytes.
        if hadBytes { try FileDescriptor.flush(sidecar) }
        try cut(to: 0)
    }

    private func cut(to size: Int64) throws(DownloadError) {
        if ftruncate(file, off_t(size)) != 0 { throw DownloadError(system: errno, "the partial file cannot be cut") }
    }

    /// Changes what is said of the file, or how it is divided. What is in the file stays.
    func change(_ body: (inout PartialRecord, inout RangePlan) -> Void) throws(DownloadError) {
        // The record will say that this is on the disk for sure.
        let flushed = plan
        if flushed.received > 0 { try FileDescriptor.flush(file) }
        let failure = state.withLock { state -> DownloadError? in
            body(&state.record, &state.plan)
            // Counters of the old plan must not be read for the new one.
            state.record.plan &+= 1
            state.record.flushed = state.plan.limited(to: flushed)
            return write(&state) ?? writeCounters(state)
        }
        if let failure { throw failure }
    }

    /// The part that begins at an offset; nil if there is none any more.
    func part(_ start: Int64) -> RangePlan.Part? {
        state.withLock { state in state.plan.index(of: start).map { state.plan.parts[$0] } }
    }

    /// Puts bytes where a part continues. Returns how many of them it takes: a part may have become shorter meanwhile.
    func write(_ data: Data, part start: Int64) throws(DownloadError) -> Int {
        let (offset, count) = state.withLock { state -> (Int64, Int) in
            guard let index = state.plan.index(of: start) else { return (0, 0) }
            let part = state.plan.parts[index]
            let count = Int(min(Int64(data.count), part.left ?? .max))
            state.writing[start] = part.next + Int64(count)
            return (part.next, count)
        }
        defer { state.withLock { $0.writing[start] = nil } }
        if count == 0 { return 0 }
        try FileDescriptor.write(file, count == data.count ? data : data.prefix(count), at: offset)
        // Under the lock, or the counter of an old plan overwrites one of a new plan.
        let failure = state.withLock { state -> DownloadError? in
            guard let index = state.plan.index(of: start) else { return nil }
            state.plan.advance(index, by: Int64(count))
            return writeCounters(state, only: index)
        }
        if let failure { throw failure }
        return count
    }

    /// Gives half of what a part has left to a part of its own, and returns its start. Nil if a half is shorter than
    /// `minimum`.
    func halve(_ start: Int64, minimum: Int64) -> Int64? {
        divide(start) { (next, end) in (end - next) / 2 >= minimum ? next + (end - next) / 2 : nil }
    }

    /// Ends a part with what is here of it, and returns the start of the part that has the rest. Nil if nothing is here.
    func cut(_ start: Int64) -> Int64? { divide(start) { (next, _) in next } }

    private func divide(_ start: Int64, _ place: (Int64, Int64) -> Int64?) -> Int64? {
        state.withLock { state in
            guard let index = state.plan.index(of: start), let end = state.plan.parts[index].end else { return nil }
            let next = max(state.plan.parts[index].next, state.writing[start] ?? 0)
            guard let place = place(next, end), let rest = state.plan.divide(index, at: place) else { return nil }
            state.record.plan &+= 1
            state.record.flushed = state.plan.limited(to: state.record.flushed)
            // If this fails the old record counts, and the next write fails too.
            _ = write(&state) ?? writeCounters(state)
            return rest
        }
    }

    private func writeCounters(_ state: borrowing State, only index: Int? = nil) -> DownloadError? {
        let parts = index.map { $0...$0 } ?? 0...(state.plan.parts.count - 1)
        var bytes: [UInt8] = []
        for index in parts {
            bytes += SidecarFormat.counter(state.plan.parts[index].done, part: index, plan: state.record.plan)
        }
        let place = Int64(SidecarFormat.counters + parts.lowerBound * SidecarFormat.counterSize)
        do { try FileDescriptor.write(sidecar, bytes, at: place) } catch { return error }
        return nil
    }

    /// Records how long the file is, once that is known.
    func learn(total: Int64?) throws(DownloadError) {
        guard let total, plan.total == nil, representation != nil else { return }
        try change { record, plan in
            record.representation?.total = total
            plan.end(at: total)
        }
    }

    /// Says where the file ends, now that its body has.
    func end(at total: Int64) { state.withLock { $0.plan.end(at: total) } }

    /// Throws if the file is not as long as what was counted: somebody else wrote to it.
    func check(size: Int64) throws(DownloadError) {
        var info = stat()
        if fstat(file, &info) == 0, Int64(info.st_size) == size { return }
        throw DownloadError(.file, "the partial file is \(info.st_size) bytes long, \(size) were written")
    }

    /// Bytes that are here, for a digest.
    func read(at offset: Int64, _ count: Int) throws(DownloadError) -> Data {
        try FileDescriptor.read(file, at: offset, count)
    }

    /// Makes sure that what is here survives a crash of the machine.
    func flush() throws(DownloadError) {
        let plan = plan
        try FileDescriptor.flush(file)
        let failure = state.withLock { state -> DownloadError? in
            state.record.flushed = state.plan.limited(to: plan)
            return write(&state)
        }
        if let failure { throw failure }
    }

    /// Asks the system to begin writing, without waiting for it.
    func beginFlush() { FileDescriptor.beginFlush(file) }

    /// The file takes its place, in one step, and the sidecar goes.
    func finish(replacing path: String) throws(DownloadError) {
        let mode = try Destination.replaceable(path)
        if let mode { fchmod(file, mode) }
        try move(to: path)
        settle(path)
    }

    /// The same, unless something is there already: false then.
    func finish(ifFree path: String) throws(DownloadError) -> Bool {
        if link(self.path, path) == 0 {
            unlink(self.path)
        } else {
            if errno == EEXIST { return false }
            // Not every file system has links: an empty file holds the place for a moment.
            let place = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if place < 0 && errno == EEXIST { return false }
            if place < 0 { throw DownloadError(system: errno, "the file cannot be put in place") }
            close(place)
            do { try move(to: path) } catch {
                unlink(path)
                throw error
            }
        }
        settle(path)
        return true
    }

    private func move(to path: String) throws(DownloadError) {
        do { try SystemFile.rename(self.path, to: path) } catch {
            throw DownloadError(system: error.code, "the file cannot be put in place")
        }
    }

    /// The file is in its place: nothing else is needed any more, and the new name is to survive a crash.
    private func settle(_ path: String) {
        unlink(sidecarPath)
        FileDescriptor.flushDirectory(of: path)
    }

    /// What is here can no longer serve.
    func remove() {
        // Once: afterwards the names may be another's.
        if state.withLock({ state in
            defer { state.isRemoved = true }
            return state.isRemoved
        }) {
            return
        }
        unlink(path)
        unlink(sidecarPath)
    }

    private func write(_ state: inout State) -> DownloadError? {
        state.sequence += 1
        guard let slot = SidecarFormat.slot(state.record, sequence: state.sequence) else {
            return DownloadError(.file, "the sidecar does not hold what there is to say")
        }
        let place = Int64(state.sequence % 2) * Int64(SidecarFormat.slotSize)
        do { try FileDescriptor.write(sidecar, slot, at: place) } catch { return error }
        return nil
    }
}
