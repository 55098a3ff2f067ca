import ErrandEssentials

/// The credentials of an AWS account, role or user.
public struct AWSCredentials: Sendable, Hashable {
    /// The ID of the access key. It isn't a secret.
    public let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?
    /// The text by which caches tell users apart. Defaults to the access key's ID. Set it for temporary credentials,
    /// whose ID changes for the same user.
    public let owner: String

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: The ID of the key.
    ///   - secretAccessKey: The key.
    ///   - sessionToken: The token of temporary credentials. Defaults to nil.
    ///   - owner: What identifies the user to caches. Defaults to nil, which means the ID of the key.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, owner: String? = nil) {
        (self.accessKeyID, self.secretAccessKey) = (accessKeyID, secretAccessKey)
        (self.sessionToken, self.owner) = (sessionToken, owner ?? accessKeyID)
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The access key's ID, with the key masked.
    public var description: String { "\(accessKeyID) •••" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror that shows only the access key's ID, so a dump doesn't reveal the key.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
