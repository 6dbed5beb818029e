import Basics

/// The value of a `uuid` cell or parameter.
package typealias UUID = Basics.UUID
