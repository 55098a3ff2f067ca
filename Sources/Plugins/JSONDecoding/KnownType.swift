import ErrandEssentials

/// The types that are read without their `init(from:)`.
enum KnownType: UInt8, Comparable {
    case other
    /// An array or a dictionary of other types.
    case composite
    case bool, string, double, float
    case int, int8, int16, int32, int64, int128
    case uint, uint8, uint16, uint32, uint64, uint128
    case bools, strings, doubles, floats
    case ints, int8s, int16s, int32s, int64s
    case uints, uint8s, uint16s, uint32s, uint64s
    case boolsByKey, stringsByKey, doublesByKey, intsByKey
    case data, date, url, decimal

    @inline(__always) static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    @inline(__always) init<Value>(of type: Value.Type) { self = Self.table[type] }

    private static let table = Table(types)

    static let types: [(Any.Type, KnownType)] = [
        (Bool.self, .bool), (String.self, .string), (Double.self, .double), (Float.self, .float), (Int.self, .int),
        (Int8.self, .int8), (Int16.self, .int16), (Int32.self, .int32), (Int64.self, .int64), (Int128.self, .int128),
        (UInt.self, .uint), (UInt8.self, .uint8), (UInt16.self, .uint16), (UInt32.self, .uint32),
        (UInt64.self, .uint64), (UInt128.self, .uint128), ([Bool].self, .bools), ([String].self, .strings),
        ([Double].self, .doubles), ([Float].self, .floats), ([Int].self, .ints), ([Int8].self, .int8s),
        ([Int16].self, .int16s), ([Int32].self, .int32s), ([Int64].self, .int64s), ([UInt].self, .uints),
        ([UInt8].self, .uint8s), ([UInt16].self, .uint16s), ([UInt32].self, .uint32s), ([UInt64].self, .uint64s),
        ([String: Bool].self, .boolsByKey), ([String: String].self, .stringsByKey),
        ([String: Double].self, .doublesByKey), ([String: Int].self, .intsByKey),
        (Data.self, .data), (Date.self, .date), (URL.self, .url), (Decimal.self, .decimal),
    ]

    /// Types by their addresses, with open addressing: most of what is looked up is not there.
    struct Table: Sendable {
        private var slots = ContiguousArray<(type: UInt, known: KnownType)>(repeating: (0, .other), count: 256)
        private let array = Self.descriptor([Never].self)
        private let dictionary = Self.descriptor([Never: Never].self)
        /// For a type that is not in the table. Where Swift signs descriptors, each type has another one, and any type may
        /// be composite.
        private let otherwise: KnownType

        init(_ types: [(Any.Type, KnownType)], descriptors: [UInt] = Self.descriptorsOfArrays) {
            otherwise = Set(descriptors).count == 1 ? .other : .composite
            for (type, known) in types {
                let address = UInt(bitPattern: ObjectIdentifier(type))
                var slot = Self.slot(address)
                while slots[slot].type != 0 { slot = (slot + 1) & 255 }
                slots[slot] = (address, known)
            }
        }

        @inline(__always) subscript(type: Any.Type) -> KnownType {
            let address = UInt(bitPattern: ObjectIdentifier(type))
            var slot = Self.slot(address)
            while true {
                let (candidate, known) = slots[slot]
                if candidate == address { return known }
                if candidate == 0 { break }
                slot = (slot + 1) & 255
            }
            let descriptor = Self.descriptor(type)
            return descriptor == array || descriptor == dictionary ? .composite : otherwise
        }

        private static var descriptorsOfArrays: [UInt] { [descriptor([Never].self), descriptor([[Never]].self)] }

        /// What all types have that are made of one generic type: the second word of the metadata of a structure, by Swift's
        /// ABI.
        @inline(__always) private static func descriptor(_ type: Any.Type) -> UInt {
            unsafeBitCast(type, to: UnsafePointer<UInt>.self)[1]
        }

        /// Metadata is aligned, and lies close together.
        @inline(__always) private static func slot(_ address: UInt) -> Int {
            Int(truncatingIfNeeded: (address >> 3 ^ address >> 11) & 255)
        }
    }
}
