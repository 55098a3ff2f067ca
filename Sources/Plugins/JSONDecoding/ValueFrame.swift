import ErrandEssentials

/// A value that is being decoded, and its coding path: the `Decoder` of a type.
final class ValueFrame {
    /// The position of a null that the text does not contain.
    static let absent = -1

    let document: JSONDocument
    /// The position of the value in the index.
    let position: Int

    // The coding path: the frame around this one, and the step from there.
    private let parent: ValueFrame?
    private let step: Step
    /// Whether the frame is of a container that a container has made.
    private let isNested: Bool
    /// Whether the value is decoded; a type may keep its frame longer.
    private var hasEnded = false

    /// The number of elements of an array; nil until it is first read.
    private var count: Int?
    /// Positions of values by key; nil for an object of few regular keys, and until it is needed.
    private var table: [String: Int]?
    /// Where to look for the next key.
    private var cursor: JSONDocument.MemberCursor

    /// A step of a path; an index needs no existential.
    enum Step {
        case index(Int)
        case key(any CodingKey)

        var key: any CodingKey {
            switch self {
            case .index(let index): PositionKey.index(index)
            case .key(let key): key
            }
        }
    }

    /// The frame of a whole text.
    init(_ document: JSONDocument) {
        (self.document, position, parent, step, isNested) = (document, 0, nil, .index(0), false)
        cursor = JSONDocument.MemberCursor(key: 1)
    }

    /// The frame of a value within another one.
    init(_ parent: ValueFrame, at position: Int, _ step: consuming Step, isNested: Bool = false) {
        (document, self.position, self.parent, self.step) = (parent.document, position, parent, step)
        self.isNested = isNested
        cursor = JSONDocument.MemberCursor(key: position &+ 1)
    }

    /// The entry of the value.
    var entry: IndexEntry { entry(at: position) }

    /// The entry at a position, or that of the absent null.
    func entry(at position: Int) -> IndexEntry {
        position >= 0 ? document[position] : IndexEntry(.null, start: 0, length: 0)
    }

    /// Calls a function with the frame of a value: one within this one, or this one itself without a step.
    @inline(__always)
    func scoped<Value>(
        at position: Int, _ step: consuming Step?, _ body: (ValueFrame) throws -> Value
    ) rethrows -> Value {
        guard let step else { return try body(self) }
        let frame = ValueFrame(self, at: position, step)
        defer { frame.hasEnded = true }
        return try body(frame)
    }

    // MARK: Paths

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame = self
        while let parent = frame.parent {
            path.append(frame.step.key)
            frame = parent
        }
        path.reverse()
        return path
    }

    /// The frame of the value whose type asked for the container; for a container that outlives that value, the frame of the
    /// value around it.
    var asking: ValueFrame {
        var frame = self
        while frame.isNested || frame.hasEnded, let parent = frame.parent { frame = parent }
        return frame
    }

    func path(_ step: Step?) -> [any CodingKey] {
        if let step { codingPath + [step.key] } else { codingPath }
    }

    // MARK: Elements

    /// The number of elements of the array.
    var elementCount: Int {
        if let count { return count }
        var (elements, element) = (0, position + 1)
        let end = document.next(after: position)
        while element < end {
            elements += 1
            element = document.next(after: element)
        }
        count = elements
        return elements
    }

    // MARK: Members

    /// The position of the value of a key in this object; ``absent`` if there is none.
    func find(_ name: String) -> Int {
        if let table { return table[name] ?? Self.absent }
        if usesTable { return look(up: name) }
        var cursor = cursor
        let search = document.find(name, inObjectAt: position, &cursor)
        self.cursor = cursor
        switch search {
        case .found(let position): return position
        case .tooMany: return look(up: name)
        // Strings are equal by their characters: the sign of Kelvin is a K.
        case .absent: return name.utf8.allSatisfy { $0 < 0x80 } ? Self.absent : look(up: name)
        }
    }

    /// Whether keys are not those of the type byte by byte.
    private var usesTable: Bool { document.convertsKeys || entry.isKind(.irregularObject) }

    /// The same by a table, for objects with many keys, with irregular ones, and with converted ones.
    private func look(up name: String) -> Int {
        let positions = table ?? (document.convertsKeys ? convertedKeys() : plainKeys())
        table = positions
        return positions[name] ?? Self.absent
    }

    /// The keys of the object, each once, in the order of the text; converted if keys are.
    var allKeys: [String] {
        if document.convertsKeys {
            return (table ?? convertedKeys()).sorted { $0.value < $1.value }.map(\.key)
        }
        var names: [String] = []
        var known: Set<String> = []
        document.forEachMember(at: position) { name, _ in
            if known.insert(name).inserted { names.append(name) }
        }
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
            var path = codingPath
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
