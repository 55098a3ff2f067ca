/// The elements of an array, read one after another.
///
/// Narrow fields let it fit in an existential without an allocation. Positions have only 30 bits.
struct UnkeyedValues: UnkeyedDecodingContainer {
    private let frame: ValueFrame
    private var position: Int32
    private let end: Int32
    private var index: Int32 = 0

    init(_ frame: ValueFrame) {
        self.frame = frame
        position = Int32(truncatingIfNeeded: frame.position + 1)
        end = Int32(truncatingIfNeeded: frame.document.next(after: frame.position))
    }

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int? { frame.elementCount }
    var isAtEnd: Bool { position >= end }
    var currentIndex: Int { Int(index) }

    private var step: ValueFrame.Step { .index(Int(index)) }

    @inline(__always) private mutating func advance() {
        if !isAtEnd { position = Int32(truncatingIfNeeded: frame.document.next(after: Int(position))) }
        index += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard frame.document[try element(Never.self)].isKind(.null) else { return false }
        advance()
        return true
    }

    // MARK: Elements

    mutating func decode(_ type: Bool.Type) throws -> Bool { try decoded(type) }
    mutating func decode(_ type: String.Type) throws -> String { try decoded(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try decoded(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try decoded(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try decoded(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try decoded(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try decoded(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try decoded(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try decoded(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try decoded(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try decoded(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try decoded(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try decoded(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try decoded(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try decoded(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try decoded(type) }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoded(type) }

    @inline(__always) private mutating func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try frame.value(type, at: element(type), step)
        advance()
        return value
    }

    // MARK: Elements that may be absent or null

    mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: String.Type) throws -> String? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int128.Type) throws -> Int128? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? { try decodedIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt128.Type) throws -> UInt128? { try decodedIfPresent(type) }
    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? { try decodedIfPresent(type) }

    @inline(__always) private mutating func decodedIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        var value: Value?
        if !isAtEnd, !frame.document[Int(position)].isKind(.null) {
            value = try frame.value(type, at: Int(position), step)
        }
        advance()
        return value
    }

    // MARK: Nested containers

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let position = try element(KeyedDecodingContainer<NestedKey>.self)
        let container = try ValueFrame(frame, at: position, step, isNested: true).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let position = try element((any UnkeyedDecodingContainer).self)
        let container = try ValueFrame(frame, at: position, step, isNested: true).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = ValueFrame(frame, at: try element((any Decoder).self), step)
        advance()
        return decoder
    }

    @inline(__always) private func element(_ type: Any.Type) throws -> Int {
        if isAtEnd { throw atEnd(type) }
        return Int(position)
    }

    @inline(never) private func atEnd(_ type: Any.Type) -> DecodingError {
        .valueNotFound(
            type, DecodingError.Context(codingPath: frame.path(step), debugDescription: "Unkeyed container is at end."))
    }
}
