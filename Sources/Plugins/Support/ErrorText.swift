import ErrandEssentials

/// Errors in a few words for descriptions and logs.
package enum ErrorText {
    /// What an error says of itself, if its author wrote that down; otherwise its type, because a dump of its fields, or
    /// of the user info of an `NSError`, may hold what does not belong in a log.
    package static func brief(_ error: any Error) -> String {
        if !(type(of: error) is AnyClass), let error = error as? any Error & CustomStringConvertible {
            return error.description
        }
        return (error as? any LocalizedError)?.errorDescription ?? "\(type(of: error))"
    }
}
