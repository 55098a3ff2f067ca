extension EncodingError {
    /// The path and type of the value that an encoder rejected, but not the value itself.
    var summary: String {
        switch self {
        case .invalidValue(let value, let context):
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return "/\(path.joined(separator: "/")): this \(type(of: value)) can't be represented"
        @unknown default: return "not valid"
        }
    }
}
