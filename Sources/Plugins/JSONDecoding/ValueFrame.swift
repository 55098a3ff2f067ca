/// A value that is being decoded, and its coding path: the `Decoder` of a type.
///
/// Each frame lends one frame to the values within it, one after the other, so that a text takes as many frames as it has
/// levels. A type that keeps its decoder, or a container of it, keeps its frame, with its path; the next value gets another.
final class ValueFrame {
    /// The position of a null that the text does not contain.
    static let absent = -1

    let document: JSONDocument
    /// The position of the value in the index.
    @exclusivity(unchecked) private(set) var position: Int

    // The coding path: the frame around this one, and the step from there. A frame that is lent needs no reference to its
    // lender, which outlives the loan.
    @exclusivity(unchecked) private unowned(unsafe) var parent: ValueFrame?
    @exclusivity(unchecked) private var keptParent: ValueFrame?
    @exclusivity(unchecked) private var index = 0
    @exclusivity(unchecked) private var key: (any CodingKey)?

    /// Whether the frame is of a container that a container has made.
    private let isNested: Bool
    /// Whether the frame goes back to its lender.
    @exclusivity(unchecked) private var isLent = true
    /// Whether its loan is over although its user has kept it.
    @exclusivity(unchecked) private var hasEnded = false
    /// Whether it was lent before: containers are worth to be kept from the second value on.
    @exclusivity(unchecked) private var isReused = false
    /// The frame to lend; nil while it is lent.
    @exclusivity(unchecked) private var spare: ValueFrame?
    /// The containers that objects have while the frame is lent, one for each type of keys.
    @exclusivity(unchecked) private var containers: KeptContainer?
    /// The reference to the container, if there is one only: whether it is unique takes no walk then.
    @exclusivity(unchecked) private var onlyContainer: UnsafeMutablePointer<AnyObject>?
    /// The number of elements of an array; nil until it is first read.
    @exclusivity(unchecked) private var count: Int?

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
    init(_ document: JSONDocument) { (self.document, position, isNested) = (document, 0, false) }

    /// A frame that its user keeps.
    init(_ parent: ValueFrame, at position: Int, _ step: Step, isNested: Bool = false) {
        (document, self.position, self.isNested) = (parent.document, position, isNested)
        (self.parent, keptParent, isLent) = (parent, parent, false)
        enter(step)
    }

    private init(lentBy parent: ValueFrame) {
        (document, position, isNested) = (parent.document, 0, false)
        self.parent = parent
    }

    /// The entry of the value.
    @inline(__always) var entry: IndexEntry {
        position >= 0 ? document[position] : IndexEntry(.null, start: 0, length: 0)
    }

    // MARK: Loans

    /// Calls a function with a frame for a value within this one.
    @inline(__always)
    func lend<Value>(
        at position: Int, _ enter: (ValueFrame) -> Void, _ body: (ValueFrame) throws -> Value
    ) rethrows -> Value {
        var frame: ValueFrame
        var taken: ValueFrame?
        swap(&taken, &spare)
        if let taken = consume taken {
            frame = taken
            (frame.count, frame.isReused) = (nil, true)
        } else {
            frame = ValueFrame(lentBy: self)
        }
        frame.position = position
        enter(frame)
        defer { if Self.isUnshared(&frame) { spare = frame } else { frame.keep(in: self) } }
        return try body(frame)
    }

    /// Whether neither a frame nor a container of it is kept by a type.
    @inline(__always) private static func isUnshared(_ frame: inout ValueFrame) -> Bool {
        guard isKnownUniquelyReferenced(&frame) else { return false }
        if let container = frame.onlyContainer { return isKnownUniquelyReferenced(&container.pointee) }
        var container = frame.containers
        while let kept = container {
            guard kept.isUnique else { return false }
            container = kept.next
        }
        return true
    }

    /// Ends the loan of a frame that a type has kept, or whose container it has.
    @inline(never) private func keep(in lender: ValueFrame?) {
        (isLent, hasEnded, keptParent) = (false, true, lender)
        var container = containers
        while let kept = container {
            kept.members.keptFrame = self
            container = kept.next
        }
        (containers, onlyContainer) = (nil, nil)
    }

    /// The members of the object as a keyed container: while the frame is lent, one of those that it keeps.
    @inline(__always) func members<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        guard let first = containers else { return newMembers(type) }
        return first.isFor(type) ? members(in: first) : otherMembers(type, behind: first)
    }

    @inline(__always)
    private func members<Key: CodingKey>(in kept: KeptContainer) -> KeyedDecodingContainer<Key> {
        kept.members.read(at: position)
        return unsafeDowncast(kept, to: KeptContainerOf<KeyedDecodingContainer<Key>>.self).copy()
    }

    @inline(never)
    private func otherMembers<Key: CodingKey>(
        _ type: Key.Type, behind first: KeptContainer
    ) -> KeyedDecodingContainer<Key> {
        var container = first.next
        while let kept = container {
            if kept.isFor(type) { return members(in: kept) }
            container = kept.next
        }
        return newMembers(type)
    }

    @inline(never) private func newMembers<Key: CodingKey>(_ type: Key.Type) -> KeyedDecodingContainer<Key> {
        let members = ObjectMembers(of: self)
        members.read(at: position)
        guard isLent, isReused, containers?.count ?? 0 < 4 else {
            members.keptFrame = self
            return KeyedDecodingContainer(KeyedValues<Key>(members: members))
        }
        let container = KeptContainer.make(members, type, before: containers)
        containers = container
        onlyContainer = container.next == nil ? container.reference : nil
        return container.copy()
    }

    // MARK: The end of a text

    /// Ends a text: whether the frame of the whole of it, and all that it lends, can serve for another one.
    static func takeBack(_ root: inout ValueFrame) -> Bool {
        guard isUnshared(&root) else {
            // What a type keeps of its decoder outlives the text.
            root.document.keepText()
            root.keep(in: nil)
            return false
        }
        root.document.clear()
        var (frame, depth): (ValueFrame?, Int) = (root, 0)
        while let used = frame {
            (used.key, used.count, used.isReused) = (nil, nil, true)
            var container = used.containers
            while let kept = container {
                kept.members.clear()
                container = kept.next
            }
            depth += 1
            if depth == 16 { used.spare = nil }
            frame = used.spare
        }
        return true
    }

    // MARK: Paths

    /// The last step of the path: an element of an array.
    @inline(__always) func enter(_ index: Int) {
        self.index = index
        if key != nil { key = nil }
    }

    /// The last step of the path: a member of an object.
    @inline(__always) func enter(_ key: some CodingKey) { self.key = key }

    func enter(_ step: Step) {
        switch step {
        case .index(let index): enter(index)
        case .key(let key): self.key = key
        }
    }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame = self
        while let parent = frame.parent {
            path.append(frame.key ?? PositionKey.index(frame.index))
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
}
