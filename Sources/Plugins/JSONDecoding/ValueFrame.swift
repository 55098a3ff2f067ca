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
    @exclusivity(unchecked) private var step: Step
    /// The frame to lend; nil while it is lent.
    @exclusivity(unchecked) private var spare: ValueFrame?

    /// The memory of the keyed containers of an object.
    @exclusivity(unchecked) var keys = KeyMemory()
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

    /// The frame of the whole text.
    init(_ document: JSONDocument) {
        (self.document, position, step) = (document, 0, .index(0))
    }

    /// A frame that its user keeps.
    init(_ parent: ValueFrame, at position: Int, _ step: Step) {
        (document, self.position, self.step) = (parent.document, position, step)
        (self.parent, keptParent) = (parent, parent)
    }

    /// The entry of the value.
    @inline(__always) var entry: IndexEntry {
        position >= 0 ? document[position] : IndexEntry(.null, start: 0, length: 0)
    }

    // MARK: Loans

    /// Calls a function with a frame for a value within this one.
    @inline(__always)
    func lend<Value>(
        at position: Int, _ step: @autoclosure () -> Step, _ body: (ValueFrame) throws -> Value
    ) rethrows -> Value {
        var frame: ValueFrame
        if let spare {
            self.spare = nil
            frame = spare
            frame.position = position
            frame.step = step()
            frame.count = nil
        } else {
            frame = ValueFrame(self, at: position, step())
            frame.keptParent = nil
        }
        defer {
            if isKnownUniquelyReferenced(&frame) { spare = frame } else { frame.keptParent = self }
        }
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
