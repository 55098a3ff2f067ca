import ErrandEssentials
public import ErrandHTTP

extension StructuredField.ParseError: DescribedError {
    /// "Errand.StructuredField.ParseError"
    public static var errorDomain: String { "Errand.StructuredField.ParseError" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

extension StructuredField.SerializationError: DescribedError {
    /// "Errand.StructuredField.SerializationError"
    public static var errorDomain: String { "Errand.StructuredField.SerializationError" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
