import ErrandEssentials

/// Errors in a few words for descriptions and logs.
package enum ErrorText {
    /// What an error says of itself, if its author wrote that down; otherwise its type, because a dump of its fields, or
    /// of the user info of an `NSError`, may hold what does not belong in a log.
    package static func brief(_ error: any Error) -> String {
        if !(type(of: error) is AnyClass), !isSystems(error), let error = error as? any Error & CustomStringConvertible
        {
            return error.description
        }
        return (error as? any LocalizedError)?.errorDescription ?? "\(type(of: error))"
    }

    /// Whether it is one of Foundation's, such as `URLError`: those describe themselves by the whole user info of an `NSError`,
    /// in which the URL stands.
    private static func isSystems(_ error: any Error) -> Bool {
        let name = String(reflecting: type(of: error))
        return name.hasPrefix("Foundation") || name.hasPrefix("__C.")
    }
}
