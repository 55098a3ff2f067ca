import ErrandEssentials

/// The members of an object that is being decoded: what the keyed containers of one value share.
final class ObjectMembers {
    let document: JSONDocument
    /// The frame of the object. It outlives the members, unless they keep it.
    unowned(unsafe) let frame: ValueFrame
    /// The frame, for containers that may be kept longer than it is lent.
    @exclusivity(unchecked) var keptFrame: ValueFrame?

    /// The position of the object in the index.
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var keys = KeyMemory()

    init(of frame: ValueFrame) { (document, self.frame) = (frame.document, frame) }

    /// Begins to read the members of an object.
    func read(at position: Int) {
        self.position = position
        keys.cursor = position + 1
        keys.end = position + document[position].length
        (keys.last, keys.seen, keys.all, keys.areDistinct) = (0, KeyMark(), .all, false)
        if document.convertsKeys {
            use(convertedKeys())
        } else if document[position].isKind(.irregularObject) {
            use(plainKeys())
        } else if keys.table != nil {
            keys.table = nil
        }
    }

    /// Finds keys in a table, and no longer at the cursor.
    private func use(_ table: [String: Int]) { (keys.table, keys.cursor) = (table, keys.end) }

    /// Releases what belongs to the object that was read.
    func clear() { if keys.table != nil { keys.table = nil } }

    // MARK: Positions

    /// In the place of the position of a key that is not there.
    static var absent: Int { ValueFrame.absent }
    /// For the position of a key that takes a table to find.
    private static var unknown: Int { -2 }

    /// The position of the value of a key; ``absent`` if there is none.
    @inline(never) func find(_ name: String) -> Int {
        let cursor = keys.cursor
        if cursor < keys.end, document.hasShortStrings, let (words, count) = ShortString.words(of: name),
            ShortKey(words: words, count: count).matches(document[cursor], document), take(cursor, KeyMark(words))
        {
            return cursor &+ 1
        }
        return findAny(name)
    }

    @inline(never) private func findAny(_ name: String) -> Int {
        if let table = keys.table { return table[name] ?? Self.absent }
        if let position = name.utf8.withContiguousStorageIfAvailable({ find($0) }), position != Self.unknown {
            // Strings are equal by their characters: the sign of Kelvin is a K.
            if position != Self.absent || name.utf8.allSatisfy({ $0 < 0x80 }) { return position }
        }
        let table = plainKeys()
        use(table)
        return table[name] ?? Self.absent
    }

    @inline(__always) private func find(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        // An empty string has an address too.
        guard let base = name.baseAddress else { return Self.unknown }
        let sought = SoughtKey(name, base)
        let cursor = keys.cursor
        if cursor < keys.end, sought.matches(document[cursor], document) {
            if take(cursor, sought.mark) { return cursor + 1 }
        } else if keys.last > 0, sought.matches(document[keys.last], document) {
            return keys.last + 1
        }
        return search(sought)
    }

    /// Goes on behind the key at the cursor, unless a key before it can be equal.
    @inline(__always) private func take(_ cursor: Int, _ mark: KeyMark) -> Bool {
        guard !keys.seen.mayContain(mark) || keys.areDistinct else { return false }
        keys.seen.insert(mark)
        keys.last = cursor
        keys.cursor = document.next(after: cursor &+ 1)
        return true
    }

    /// Compares from the first key; ``unknown`` for an object with many keys.
    @inline(never) private func search(_ sought: SoughtKey) -> Int {
        if !keys.all.mayContain(sought.mark) { return Self.absent }
        var (key, seen, searched) = (position + 1, KeyMark(), 0)
        while key < keys.end {
            let entry = document[key]
            if sought.matches(entry, document) {
                keys.cursor = document.next(after: key + 1)
                seen.insert(sought.mark)
                keys.seen = seen
                keys.last = key
                return key + 1
            }
            if searched == KeyMemory.longestSearch { return Self.unknown }
            searched += 1
            seen.insert(KeyMark(document.start(entry), entry.length))
            key = document.next(after: key + 1)
        }
        keys.all = seen
        return Self.absent
    }

    // MARK: All keys

    /// The keys of the object, each once, in the order of the text; converted if keys are.
    var allKeys: [String] {
        if let table = keys.table { return table.sorted { $0.value < $1.value }.map(\.key) }
        var names: [String] = []
        var known: Set<String> = []
        var count = 0
        document.forEachMember(at: position) { name, _ in
            count += 1
            let isNew = names.count < 8 ? !names.contains(name) : known.insert(name).inserted
            if isNew {
                names.append(name)
                if names.count == 8 { known.formUnion(names) }
            }
        }
        keys.areDistinct = names.count == count
        return names
    }

    private func plainKeys() -> [String: Int] {
        var table: [String: Int] = [:]
        document.forEachMember(at: position) { name, position in table.setIfAbsent(name, position) }
        return table
    }

    private func convertedKeys() -> [String: Int] {
        var table: [String: Int] = [:]
        let strategy = document.options.keyDecodingStrategy
        if case .custom(let convert) = strategy {
            var path = frame.codingPath
            document.forEachMember(at: position) { name, position in
                path.append(PositionKey.name(name))
                table.setIfAbsent(convert(path).stringValue, position)
                path.removeLast()
            }
        } else {
            document.forEachMember(at: position) { name, position in
                table.setIfAbsent(SnakeCase.camelCase(name), position)
            }
        }
        return table
    }
}

extension JSONDocument {
    /// Calls a function with each key of an object and the position of its value.
    func forEachMember(at position: Int, _ body: (String, Int) throws -> Void) rethrows {
        var key = position + 1
        let end = next(after: position)
        while key < end {
            try body(string(at: key) ?? "", key + 1)
            key = next(after: key + 1)
        }
    }
}

extension Dictionary where Key == String {
    /// Of equal keys the first one counts.
    @inline(__always) mutating func setIfAbsent(_ key: String, _ value: Value) {
        { if $0 == nil { $0 = value } }(&self[key])
    }
}
