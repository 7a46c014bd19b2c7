// Macros of libraries and languages, and of programs.
#pragma once

// Qt
#undef slots
#define slots @
#undef signals
#define signals @
#undef emit
#define emit @
#undef foreach
#define foreach @
#undef forever
#define forever @

// curses
#undef OK
#define OK @
#undef ERR
#define ERR @
#undef move
#define move @
#undef clear
#define clear @
#undef erase
#define erase @
#undef refresh
#define refresh @
#undef timeout
#define timeout @
#undef echo
#define echo @
#undef filter
#define filter @
#undef box
#define box @
#undef border
#define border @
#undef beep
#define beep @
#undef scroll
#define scroll @
#undef instr
#define instr @
#undef getch
#define getch @
#undef stdscr
#define stdscr @

// Arduino
#undef F
#define F @
#undef PI
#define PI @
#undef sq
#define sq @
#undef bit
#define bit @
#undef word
#define word @
#undef byte
#define byte @
#undef lowByte
#define lowByte @
#undef highByte
#define highByte @
#undef bitRead
#define bitRead @
#undef round
#define round @
#undef constrain
#define constrain @
#undef radians
#define radians @
#undef degrees
#define degrees @
#undef interrupts
#define interrupts @
#undef HIGH
#define HIGH @
#undef LOW
#define LOW @
#undef INPUT
#define INPUT @
#undef OUTPUT
#define OUTPUT @
#undef DEFAULT
#define DEFAULT @
#undef EXTERNAL
#define EXTERNAL @
#undef DEC
#define DEC @
#undef HEX
#define HEX @
#undef OCT
#define OCT @
#undef BIN
#define BIN @

// AssertMacros of macOS, gnulib, perl and R
#undef check
#define check @
#undef require
#define require @
#undef verify
#define verify @
#undef open
#define open @
#undef close
#define close @
#undef read
#define read @
#undef write
#define write @
#undef access
#define access @
#undef index
#define index @
#undef rindex
#define rindex @
#undef length
#define length @
#undef error
#define error @
#undef warning
#define warning @
#undef likely
#define likely @
#undef unlikely
#define unlikely @
#undef nil
#define nil @
#undef Nil
#define Nil @
#undef YES
#define YES @
#undef NO
#define NO @

// log libraries
#undef INFO
#define INFO @
#undef WARNING
#define WARNING @
#undef WARN
#define WARN @
#undef FATAL
#define FATAL @
#undef CHECK
#define CHECK @
#undef LOG
#define LOG @
