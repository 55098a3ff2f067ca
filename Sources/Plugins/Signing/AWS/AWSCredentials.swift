import ErrandEssentials

/// The credentials of an AWS account, role or user.
public struct AWSCredentials: Sendable, Hashable {
    /// The access key's ID, which isn't a secret.
    public let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?
    /// A text that identifies the user to caches. Defaults to the access key's ID. Set it for temporary credentials,
    /// because their ID changes.
    public let owner: String

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: The access key's ID.
    ///   - secretAccessKey: The secret key.
    ///   - sessionToken: The token of temporary credentials. Defaults to nil.
    ///   - owner: A text that identifies the user to caches. Defaults to nil, which means the access key's ID.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, owner: String? = nil) {
        (self.accessKeyID, self.secretAccessKey) = (accessKeyID, secretAccessKey)
        (self.sessionToken, self.owner) = (sessionToken, owner ?? accessKeyID)
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The access key's ID, without the secret.
    public var description: String { "\(accessKeyID) •••" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the access key's ID.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
