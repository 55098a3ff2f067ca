/// One of the ways in which a value can fit a shape.
struct ShapeAlternative {
    var kinds: UInt8
    var form: ShapeForm
    var checks: [JSONCheck] = []

    /// Returns whether every value of this kind fits.
    func isPlain(_ kind: UInt8) -> Bool {
        guard checks.isEmpty else { return false }
        return switch form {
        case .number(let form):
            form.integers == nil && form.numbers == nil && (!form.isInteger || kind == ValueKind.integer)
        case .string(let form): form.length.bounds == nil && form.pattern == nil
        case .array(let element, let count): element.isAny && count.bounds == nil
        case .object(let members, let closed): members.isEmpty && !closed
        case .map(let value, let count): value.isAny && count.bounds == nil
        case .constants: kinds & (ValueKind.string | ValueKind.number) == 0
        default: true
        }
    }
}

extension JSONShape {
    fileprivate var isAny: Bool { if case .any = node.form { true } else { false } }
}
