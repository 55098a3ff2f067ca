/// Names as a document has written them, with their meanings: most names of a document occur many times.
///
/// It has a fixed size, and a name replaces another: a document can make it useless, but neither large nor slow.
struct NameTable: Sendable {
    struct Entry: Sendable {
        let written: [UInt8]
        let name: XMLName
        /// The declarations that were in force.
        fileprivate let scope: Int
        fileprivate let isElement: Bool
    }

    private static let size = 128
    /// Longer names are not kept.
    private static let longest = 64

    /// Empty before the first name.
    private var entries: [Entry?] = []

    /// The meaning of a name within some declarations, if it was added.
    func find(_ bytes: ArraySlice<UInt8>, _ scope: Int, isElement: Bool) -> Entry? {
        guard !entries.isEmpty, bytes.count <= Self.longest, let entry = entries[Self.slot(bytes, isElement)] else {
            return nil
        }
        let isSame = entry.scope == scope && entry.isElement == isElement && entry.written[...] == bytes
        return isSame ? entry : nil
    }

    mutating func add(
        _ bytes: ArraySlice<UInt8>, _ name: XMLName, _ scope: Int, isElement: Bool
    ) -> Entry {
        let entry = Entry(written: Array(bytes), name: name, scope: scope, isElement: isElement)
        if bytes.count <= Self.longest {
            if entries.isEmpty { entries = [Entry?](repeating: nil, count: Self.size) }
            entries[Self.slot(bytes, isElement)] = entry
        }
        return entry
    }

    private static func slot(_ bytes: ArraySlice<UInt8>, _ isElement: Bool) -> Int {
        var hash: UInt32 = isElement ? 0 : 1
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int((hash ^ hash >> 15) % UInt32(size))
    }
}
