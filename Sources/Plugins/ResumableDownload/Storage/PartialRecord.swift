import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers

/// The record of a partial file, in its sidecar.
struct PartialRecord: Codable, Sendable, Equatable {
    /// The version of this format; another one is not read.
    var format = Self.format
    /// A digest of method and key, so that no secret of a URL is on the disk.
    var request: String
    /// Whose the bytes are; nil before the first of them, and in sidecars of earlier versions, which count as nobody's.
    var user: UserStamp?
    /// The URL for people to read, its query masked.
    var url: String
    /// The destination's name, or the one that the server sent; nil before that.
    var name: String?
    /// Nil before the first response.
    var representation: Representation?
    /// The running system: of bytes written before it started, only the flushed ones are valid.
    var session: String
    /// The number of the counters that belong to this record.
    var plan: UInt32
    /// The bytes that were flushed to the disk.
    var flushed: RangePlan

    static let format = 1
}

/// The layout of a sidecar: two slots for records, written in turn so that one is intact at every moment, and after them a
/// counter for each part, which changes with every chunk.
enum SidecarFormat {
    static let slotSize = RecordSlot.size
    static let counters = 2 * slotSize
    static let counterSize = 16

    private static let magic = Array("ErrandP1".utf8)

    /// Nil if the record is too long for a slot.
    static func slot(_ record: PartialRecord, sequence: UInt64) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(record)).flatMap { RecordSlot.bytes($0, sequence: sequence, magic: magic) }
    }

    private static func record(_ payload: ArraySlice<UInt8>) -> PartialRecord? {
        let record = try? JSONDecoder().decode(PartialRecord.self, from: Data(payload))
        return record?.format == PartialRecord.format ? record : nil
    }

    /// Sixteen bytes: the plan, a check, and the count.
    static func counter(_ done: Int64, part index: Int, plan: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: plan)
        bytes.append(littleEndian: check(done, index, plan))
        bytes.append(littleEndian: done)
        return bytes
    }

    /// Detects bytes that are no counter; does not protect against deliberate changes.
    private static func check(_ done: Int64, _ index: Int, _ plan: UInt32) -> UInt32 {
        var mixed = UInt64(bitPattern: done) ^ UInt64(plan) << 24 ^ UInt64(index + 1) << 56
        mixed = (mixed ^ mixed >> 33) &* 0xff51_afd7_ed55_8ccd
        return UInt32(truncatingIfNeeded: (mixed ^ mixed >> 29) >> 7)
    }

    /// The counters of a plan; nil for those of another plan.
    static func counters(_ bytes: ArraySlice<UInt8>, plan: UInt32, count: Int) -> [Int64?] {
        (0..<count).map { index in
            let start = bytes.startIndex + index * counterSize
            guard start + counterSize <= bytes.endIndex else { return nil }
            let done = Int64(bitPattern: RecordSlot.number(bytes[(start + 8)..<(start + counterSize)]))
            let isRight = Array(bytes[start..<(start + counterSize)]) == counter(done, part: index, plan: plan)
            return isRight ? done : nil
        }
    }

    /// The newest record of a sidecar, and its plan with the counters added if they are of this session.
    static func read(_ bytes: [UInt8], session: String) -> (record: PartialRecord, plan: RangePlan, sequence: UInt64)? {
        guard let newest = RecordSlot.newest(bytes, magic: magic, decode: record) else { return nil }
        let total = newest.record.representation?.total
        var parts = newest.record.flushed.parts
        if newest.record.session == session, !session.isEmpty, bytes.count > counters {
            let done = counters(bytes[counters...], plan: newest.record.plan, count: min(parts.count, RangePlan.limit))
            for (index, count) in done.enumerated() {
                if let count, count > parts[index].done { parts[index].done = count }
            }
        }
        guard let plan = RangePlan(checking: parts, total: total) else { return nil }
        return (newest.record, plan, newest.sequence)
    }
}
