import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

/// The file of an unfinished download and its sidecar, a file next to it that records which bytes are valid. The
/// sidecar is locked, so only one download in any process uses both files.
///
/// Bytes are first written, and then counted in the sidecar. If the process is killed, the bytes that aren't counted
/// yet are lost. This is at most one chunk per part, or 1 MiB for parts with at least 16 MiB. If the machine crashes,
/// the bytes that aren't flushed are lost.
final class PartialFile: Sendable {
    let path: String
    let sidecarPath: String
    private let sidecar: SystemFile
    let file: SystemFile
    private let state: Mutex<State>
    static var session: String { SystemSession.identifier }

    private struct State {
        var record: PartialRecord
        var plan: RangePlan
        var sequence: UInt64
        /// The end of each current write. The key is the start of the part.
        var writing: [Int64: Int64] = [:]
        /// The number of received bytes that the sidecar doesn't count yet. The key is the start of the part.
        var uncounted: [Int64: Int64] = [:]
        /// The end of the reserved disk space. The key is the start of the part. It's nil if the file system can't
        /// reserve space.
        var reserved: [Int64: Int64]? = [:]
        var isRemoved = false
    }

    /// Whether to write a part's counter. The counters of large parts are written less often.
    private static func isDue(_ uncounted: Int64, of done: Int64) -> Bool {
        done < 16 << 20 || uncounted >= min(1 << 20, done / 64)
    }

    /// The size of the disk space to reserve. It's small, so a stopped download occupies little more than its received
    /// bytes.
    private static let reservation: Int64 = 32 << 20

    /// Opens the files. Throws `busy` if another download uses them. Blocks while it reads the files.
    init(_ destination: Destination, request: String, url: String) throws(TransferError) {
        let key = destination.key(request: request)
        path = Self.data(key, in: destination.directory)
        sidecarPath = Self.sidecar(key, in: destination.directory)
        sidecar = try Self.locked(sidecarPath, for: destination.description)
        do { file = try Self.opened(path) } catch {
            // An existing record is kept, because the problem may be gone at the next start.
            if sidecar.status?.size == 0 { SystemFile.remove(sidecarPath) }
            throw error
        }
        let found = SidecarFormat.read(Self.content(of: sidecar), session: Self.session)
        if let found, found.record.request == request, found.plan.extent <= file.status?.size ?? 0 {
            var state = State(record: found.record, plan: found.plan, sequence: found.sequence)
            let isOfThisSession = state.record.session == Self.session
            (state.record.session, state.record.url) = (Self.session, url)
            self.state = Mutex(state)
            // Bytes that weren't counted may be wrong, so the file is truncated.
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

    var representation: Representation? { state.withLock { $0.record.representation } }
    var plan: RangePlan { state.withLock { $0.plan } }
    var user: UserStamp? { state.withLock { $0.record.user } }
    var suggestedName: String? { state.withLock { $0.record.name } }

    func startOver(_ representation: Representation?, of user: UserStamp? = nil) throws(TransferError) {
        let hadBytes = state.withLock { $0.record.flushed.received > 0 }
        try change { record, plan in
            (record.representation, record.user) = (representation, user)
            plan = RangePlan(total: representation?.total)
        }
        // The new record is flushed before the bytes change. Otherwise, after a crash, the old record would describe
        // new bytes.
        if hadBytes { try TransferError.converting { () throws(SystemFile.Failure) in try sidecar.flushData() } }
        try cut(to: 0)
        // Truncating the file has released the reserved space.
        state.withLock { if $0.reserved != nil { $0.reserved = [:] } }
    }

    private func cut(to size: Int64) throws(TransferError) {
        try TransferError.converting { () throws(SystemFile.Failure) in try file.truncate(to: size) }
    }

    /// Changes the record and the plan, but not the file's bytes.
    func change(_ body: (inout PartialRecord, inout RangePlan) -> Void) throws(TransferError) {
        // The file is flushed first, because the new record will state that the received bytes are on disk.
        let flushed = plan
        if flushed.received > 0 {
            try TransferError.converting { () throws(SystemFile.Failure) in try file.flushData() }
        }
        let failure = state.withLock { state -> TransferError? in
            body(&state.record, &state.plan)
            state.record.plan &+= 1
            state.record.flushed = state.plan.limited(to: flushed)
            state.uncounted = [:]
            return write(&state) ?? writeCounters(state)
        }
        if let failure { throw failure }
    }

    func part(_ start: Int64) -> RangePlan.Part? {
        state.withLock { state in state.plan.index(of: start).map { state.plan.parts[$0] } }
    }

    /// Writes bytes to a part. Returns the number of written bytes. It's lower than the number of bytes if the part has
    /// become shorter.
    func write(_ data: Data, part start: Int64) throws(TransferError) -> Int {
        let (offset, count) = state.withLock { state -> (Int64, Int) in
            guard let index = state.plan.index(of: start) else { return (0, 0) }
            let part = state.plan.parts[index]
            let count = Int(min(Int64(data.count), part.left ?? .max))
            state.writing[start] = part.next + Int64(count)
            return (part.next, count)
        }
        defer { state.withLock { $0.writing[start] = nil } }
        if count == 0 { return 0 }
        reserve(start, from: offset, count)
        try TransferError.converting { () throws(SystemFile.Failure) in
            try file.write(count == data.count ? data : data.prefix(count), at: offset)
        }
        // The counter is written under the lock. Otherwise an outdated counter could overwrite the counter of a new
        // plan.
        let failure = state.withLock { state -> TransferError? in
            guard let index = state.plan.index(of: start) else { return nil }
            state.plan.advance(index, by: Int64(count))
            let (part, uncounted) = (state.plan.parts[index], state.uncounted[start, default: 0] + Int64(count))
            let isDue = part.isDone || Self.isDue(uncounted, of: part.done)
            state.uncounted[start] = isDue ? nil : uncounted
            return isDue ? writeCounters(state, only: index) : nil
        }
        if let failure { throw failure }
        return count
    }

    func count() {
        state.withLock { state in
            if state.uncounted.isEmpty || state.isRemoved { return }
            state.uncounted = [:]
            // An error is ignored, because the bytes are then only downloaded again.
            _ = writeCounters(state)
        }
    }

    /// Reserves disk space for a part, so the file system allocates fewer and larger extents.
    private func reserve(_ start: Int64, from offset: Int64, _ count: Int) {
        let next = state.withLock { state -> Range<Int64>? in
            guard let end = state.plan.index(of: start).flatMap({ state.plan.parts[$0].end }),
                let reserved = state.reserved?[start, default: offset], offset + Int64(count) > reserved,
                end - offset > 1 << 20
            else { return nil }
            let next = max(reserved, offset)..<min(end, max(reserved, offset) + Self.reservation)
            state.reserved?[start] = next.upperBound
            return next.isEmpty ? nil : next
        }
        guard let next else { return }
        if !file.reserve(Int64(next.count), at: next.lowerBound) { state.withLock { $0.reserved = nil } }
    }

    /// Halves a part's missing range. Returns the start of the new part, or nil if the new part would be shorter than
    /// `minimum`.
    func halve(_ start: Int64, minimum: Int64) -> Int64? {
        divide(start) { (next, end) in (end - next) / 2 >= minimum ? next + (end - next) / 2 : nil }
    }

    /// Separates a part's missing range from its received bytes. Returns the start of the missing range, or nil if it's
    /// empty.
    func cut(_ start: Int64) -> Int64? { divide(start) { (next, _) in next } }

    private func divide(_ start: Int64, _ split: (Int64, Int64) -> Int64?) -> Int64? {
        state.withLock { state in
            guard let index = state.plan.index(of: start), let end = state.plan.parts[index].end else { return nil }
            let next = max(state.plan.parts[index].next, state.writing[start] ?? 0)
            guard let offset = split(next, end), let rest = state.plan.divide(index, at: offset) else { return nil }
            state.record.plan &+= 1
            state.record.flushed = state.plan.limited(to: state.record.flushed)
            state.uncounted = [:]
            // An error can be ignored. The old record stays valid, and the next write reports the error.
            _ = write(&state) ?? writeCounters(state)
            return rest
        }
    }

    private func writeCounters(_ state: borrowing State, only index: Int? = nil) -> TransferError? {
        let parts = index.map { $0...$0 } ?? 0...(state.plan.parts.count - 1)
        var bytes: [UInt8] = []
        for index in parts {
            bytes += SidecarFormat.counter(state.plan.parts[index].done, part: index, plan: state.record.plan)
        }
        let offset = Int64(SidecarFormat.counters + parts.lowerBound * SidecarFormat.counterSize)
        do { try sidecar.write(bytes, at: offset) } catch { return TransferError(error) }
        return nil
    }

    func end(at total: Int64) { state.withLock { $0.plan.end(at: total) } }

    func flush() throws(TransferError) {
        let plan = plan
        try TransferError.converting { () throws(SystemFile.Failure) in try file.flushData() }
        let failure = state.withLock { state -> TransferError? in
            state.record.flushed = state.plan.limited(to: plan)
            return write(&state)
        }
        if let failure { throw failure }
    }

    func remove() {
        // The files are removed only once, because their names may belong to another download afterwards.
        if state.withLock({ state in
            defer { state.isRemoved = true }
            return state.isRemoved
        }) {
            return
        }
        SystemFile.remove(path)
        SystemFile.remove(sidecarPath)
    }

    private func write(_ state: inout State) -> TransferError? {
        state.sequence += 1
        guard let slot = SidecarFormat.slot(state.record, sequence: state.sequence) else {
            return TransferError(.fileFailed, "the download's record doesn't fit in \(sidecarPath)")
        }
        let offset = Int64(state.sequence % 2) * Int64(SidecarFormat.slotSize)
        do { try sidecar.write(slot, at: offset) } catch { return TransferError(error) }
        return nil
    }
}

extension PartialFile {
    func learn(total: Int64?) throws(TransferError) {
        guard let total, plan.total == nil, representation != nil else { return }
        try change { record, plan in
            record.representation?.total = total
            plan.end(at: total)
        }
    }

    func check(size: Int64) throws(TransferError) {
        let length = file.status?.size ?? 0
        if length == size { return }
        throw TransferError(
            .fileFailed, "expected \(path) to have the \(size) bytes that were written, found \(length)")
    }

    func read(at offset: Int64, _ count: Int) throws(TransferError) -> Data {
        try TransferError.converting { () throws(SystemFile.Failure) in try file.read(count, at: offset) }
    }

    func beginFlush() { file.beginFlush() }
}

extension PartialFile {
    func finish(replacing path: String) throws(TransferError) {
        let mode = try Destination.replaceable(path)
        if let mode { try? file.setPermissions(mode) }
        try move(to: path)
        cleanUp(path)
    }

    func finish(ifFree path: String) throws(TransferError) -> Bool {
        do {
            try SystemFile.link(self.path, to: path)
            SystemFile.remove(self.path)
        } catch {
            if error.code == EEXIST { return false }
            // If the file system doesn't support links, an empty file reserves the name.
            do { _ = try SystemFile(creating: path) } catch {
                if error.code == EEXIST { return false }
                throw TransferError(error)
            }
            do { try move(to: path) } catch {
                SystemFile.remove(path)
                throw error
            }
        }
        cleanUp(path)
        return true
    }

    private func move(to path: String) throws(TransferError) {
        try TransferError.converting { () throws(SystemFile.Failure) in try SystemFile.rename(self.path, to: path) }
    }

    /// Removes the sidecar, and flushes the directory so that the new name survives a crash.
    private func cleanUp(_ path: String) {
        SystemFile.remove(sidecarPath)
        SystemFile.flushDirectory(of: path)
    }
}

extension PartialFile {
    static let prefix = "errand-"
    static let dataEnding = ".part"
    static let sidecarEnding = ".part-info"

    static func data(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(dataEnding)" }
    static func sidecar(_ id: String, in directory: String) -> String { "\(directory)/\(prefix)\(id)\(sidecarEnding)" }

    /// Whether a name belongs to a partial file or a sidecar. A file from a server never gets such a name.
    static func isOurs(_ name: String) -> Bool {
        let name = Array(name.lowercased().utf8)
        return name.starts(with: prefix.utf8)
            && [dataEnding, sidecarEnding].contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// Opens the partial file. If it has a second name, it belongs to a download that was killed after moving the file
    /// to its destination. This function then creates a new file and keeps the file at the destination.
    static func opened(_ path: String) throws(TransferError) -> SystemFile {
        for _ in 0..<100 {
            do { return try SystemFile(path, [.read, .write, .create, .refusesLinks]) } catch {
                guard error.code == EMLINK else { throw TransferError(error) }
                SystemFile.remove(path)
            }
        }
        throw TransferError(.notAFile, "\(path) cannot be replaced: it is not a regular file")
    }

    static func locked(_ path: String, for destination: String) throws(TransferError) -> SystemFile {
        let file = try TransferError.converting { () throws(SystemFile.Failure) in try SystemFile.locked(path) }
        guard let file else { throw TransferError(.busy, "another download writes to \(destination)") }
        return file
    }

    static func content(of sidecar: borrowing SystemFile) -> [UInt8] {
        let limit = 64 << 10
        guard let data = try? sidecar.read(limit + 1, at: 0), data.count <= limit else { return [] }
        return Array(data)
    }
}

/// The time between two boots of the machine. Within a session, the bytes that a process wrote stay valid even if the
/// process was killed.
enum SystemSession {
    private static let known = Mutex("")

    /// The session's identifier. It's empty if the session is unknown. In that case, only flushed bytes count as valid.
    /// A failure isn't cached, because it may be temporary, for example if the process has too many open files.
    static var identifier: String {
        known.withLock { known in
            if known.isEmpty { known = read() }
            return known
        }
    }

    private static func read() -> String {
        #if os(Linux) || os(Android)
        guard let file = try? SystemFile(reading: "/proc/sys/kernel/random/boot_id"), let data = try? file.read(64)
        else {
            return ""
        }
        return String(decoding: data, as: UTF8.self).filter { $0.isHexDigit || $0 == "-" }
        #else
        SystemSession.darwin
        #endif
    }
}
