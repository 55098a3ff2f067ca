/// A failure of this module, in a sentence; the caller gives it a code of its own.
package protocol SupportFault: Error, CustomStringConvertible {}
