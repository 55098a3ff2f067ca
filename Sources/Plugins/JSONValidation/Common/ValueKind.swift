// Here and in the other files of this folder: other modules of the package inline an `@inlinable` member only if its
// type is `@usableFromInline`.

/// The kinds of values, one bit each. The first byte tells them apart, except for the two kinds of numbers.
@usableFromInline package enum ValueKind {
    @inlinable package static var null: UInt8 { 1 }
    @inlinable package static var `false`: UInt8 { 2 }
    @inlinable package static var `true`: UInt8 { 4 }
    /// A number without a fraction and an exponent.
    @inlinable package static var integer: UInt8 { 8 }
    @inlinable package static var fraction: UInt8 { 16 }
    @inlinable package static var string: UInt8 { 32 }
    @inlinable package static var array: UInt8 { 64 }
    @inlinable package static var object: UInt8 { 128 }
    @inlinable package static var boolean: UInt8 { `true` | `false` }
    @inlinable package static var number: UInt8 { integer | fraction }
    @inlinable package static var all: UInt8 { 255 }
}
