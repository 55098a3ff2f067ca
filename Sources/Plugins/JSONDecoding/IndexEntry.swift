/// A key or a value in the index of a text: its kind, where it begins, and how long it is.
///
/// The entries of a text follow one another as its tokens do: a container, then what it contains, a member as its key and its
/// value. The length of a container counts entries, itself among them; that of any other value counts bytes.
struct IndexEntry {
    enum Kind: UInt8 {
        case null, `false`, `true`
        /// A number of digits and perhaps a minus sign.
        case integer
        /// A number with a fraction or an exponent.
        case number
        case string
        /// A string with escapes.
        case escapedString
        case array
        case object
        /// An object with a key that has an escape, or is not ASCII.
        case irregularObject
    }

    private let bits: UInt64

    /// The largest start and the largest length: a text is no longer.
    static let limit = 1 << 30 - 1

    @inline(__always) init(_ kind: Kind, start: Int, length: Int) {
        bits = Self.head(kind, length: length) &<< 30 | UInt64(truncatingIfNeeded: start)
    }

    /// All but the start.
    @inline(__always) static func head(_ kind: Kind, length: Int) -> UInt64 {
        UInt64(kind.rawValue) &<< 30 | UInt64(truncatingIfNeeded: length)
    }

    @inline(__always) var head: UInt64 { bits &>> 30 }
    @inline(__always) var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: bits &>> 60)) ?? .null }
    /// The first byte of a number; of a string the one behind the quote.
    @inline(__always) var start: Int { Int(truncatingIfNeeded: bits & 0x3FFF_FFFF) }
    @inline(__always) var length: Int { Int(truncatingIfNeeded: bits &>> 30 & 0x3FFF_FFFF) }

    @inline(__always) func isKind(_ kind: Kind) -> Bool { bits &>> 60 == UInt64(kind.rawValue) }
    @inline(__always) var isContainer: Bool { bits &>> 60 >= UInt64(Kind.array.rawValue) }
    @inline(__always) var isObject: Bool { bits &>> 60 >= UInt64(Kind.object.rawValue) }
    /// How many entries the value has.
    @inline(__always) var span: Int { isContainer ? length : 1 }

    /// The words of `JSONDecoder` for the kind of the value.
    var name: String {
        switch kind {
        case .null: "null"
        case .false, .true: "bool"
        case .integer, .number: "number"
        case .string, .escapedString: "a string"
        case .array: "an array"
        case .object, .irregularObject: "a dictionary"
        }
    }
}
