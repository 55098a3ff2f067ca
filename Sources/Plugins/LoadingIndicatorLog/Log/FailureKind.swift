import Errand

extension Error {
    /// Of few values, so that it may be counted, and without anything secret: Core's code, or the type.
    var kind: String { (self as? ErrandError)?.code.description ?? "\(type(of: self))" }
}
