/// The policy of a download into a directory where a file with the same name exists.
public enum NameCollisionPolicy: Sendable, Hashable {
    /// The new file gets a number: `film (2).mp4`, `film (3).mp4`.
    case number
    /// The new file replaces the old one when it is complete.
    case replace
}
